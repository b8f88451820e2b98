"""Questions that the core puts to a person, and the answers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DiffBlock, DisplayBlock
from coder_tui.protocol.findings import Finding


class Decision(StrEnum):
    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    MODIFY = "modify"
    DENY = "deny"
    CANCEL_TURN = "cancel_turn"
    NOBODY_THERE = "nobody_there"


class GrantForm(StrEnum):
    """How a grant's patterns are read."""

    EXACT = "exact"
    """The very target."""
    FOLDER = "folder"
    """A folder, and everything below it."""
    GLOB = "glob"
    """A rule's pattern, as it would stand in settings."""


class GrantScope(StrEnum):
    """How long a grant holds, and where it is kept."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Grant:
    """What "allow always" would add; `key` is a tool or group. Each part of a command needs a pattern."""

    key: str
    patterns: tuple[str, ...]
    label: str
    form: GrantForm = GrantForm.EXACT
    scope: GrantScope = GrantScope.SESSION


@dataclass(frozen=True, slots=True)
class Editable:
    """The part of a call that a person may rewrite before it runs; `suffix` helps an editor to colour it."""

    field: str
    text: str
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """May this call run? Holds all that a dialog shows; `grants` are the scopes that "always" offers."""

    id: str
    call_id: str
    tool: str
    kind: ToolKind
    title: str
    preview: DisplayBlock
    facts: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    is_undoable: bool = False
    rule: str = ""
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    sandbox: str = ""
    """How a command would be confined, in a few words; empty for what is no command."""
    editable: Editable | None = None
    agent: str = ""
    """Who asks, where that is not the main agent."""
    child_id: str = ""
    """Which sub-agent that is."""
    covered: tuple[tuple[str, ...], ...] = ()
    """For each grant, what it would have let pass of what was asked in this session."""
    is_divisible: bool = False
    """Whether single hunks of the preview, a diff, may be refused."""
    is_in_turn: bool = True
    """Whether a turn waits for the answer, and can be stopped in its place."""

    @property
    def is_new_file(self) -> bool:
        """Whether all that it writes is new: no old version is there to be kept."""
        if not isinstance(self.preview, DiffBlock) or self.preview.deletions:
            return False
        heads = f"\n{self.preview.diff}".count("\n--- ")
        return 0 < heads == f"\n{self.preview.diff}".count("\n--- /dev/null\n")

    @property
    def is_command(self) -> bool:
        """Files of the folder are taken back after a command, too; nothing else that it does is."""
        return bool(self.sandbox)


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    decision: Decision
    message: str = ""
    grant: Grant | None = None
    edited: str | None = None
    """With `MODIFY`: what the person made of the editable text."""
    refused: tuple[int, ...] = ()
    """Allowed but for these hunks of the preview, counted from 0 through all of its files."""


RECOMMENDED = " (Recommended)"


@dataclass(frozen=True, slots=True)
class Option:
    """One of the answers that a question proposes."""

    label: str
    description: str = ""
    is_recommended: bool = False
    """Whether the model marked it."""


@dataclass(frozen=True, slots=True)
class Question:
    """An answer in the user's own words is always possible."""

    question: str
    options: tuple[Option, ...] = ()
    multi: bool = False
    """Whether several options may be picked."""
    header: str = ""
    """One or two words for its tab; the question itself where there are none."""

    @property
    def recommended(self) -> tuple[int, ...]:
        """Places of the options that the model marked; the first one if it marked none."""
        marked = (place for place, option in enumerate(self.options) if option.is_recommended)
        return tuple(marked) or (0,)

    def mark_of(self, place: int) -> str:
        """Return what is shown behind the label of an option."""
        return RECOMMENDED if place in self.recommended else ""


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """Several questions that are answered, or cancelled, together."""

    id: str
    call_id: str
    questions: tuple[Question, ...]
    tool: str = "question"
    agent: str = ""

    @property
    def title(self) -> str:
        count = len(self.questions)
        return "A question for you" if count == 1 else f"{count} questions for you"

    @property
    def summary(self) -> str:
        return ", ".join((question.header or question.question)[:200] for question in self.questions)


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """`picked` are labels as they were given; all empty: the person left it open."""

    picked: tuple[str, ...] = ()
    text: str = ""
    note: str = ""

    @property
    def is_given(self) -> bool:
        return bool(self.picked or self.text)


class Attendance(StrEnum):
    """What became of questions."""

    ANSWERED = "answered"
    CANCELLED = "cancelled"
    NOBODY_THERE = "nobody_there"


@dataclass(frozen=True, slots=True)
class QuestionReply:
    """An answer for each question, in order; none unless they were answered."""

    attendance: Attendance
    answers: tuple[QuestionAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Shall this plan be carried out? It is Markdown."""

    id: str
    call_id: str
    plan: str
    tool: str = "plan_exit"
    agent: str = ""
    title: str = "Carry out this plan?"

    @property
    def summary(self) -> str:
        lines = (line.strip("# \t") for line in self.plan[:2000].splitlines())
        return next((line[:200] for line in lines if line), "")


class PlanDecision(StrEnum):
    APPROVE = "approve"
    REFUSE = "refuse"
    CANCEL = "cancel"
    NOBODY_THERE = "nobody_there"


@dataclass(frozen=True, slots=True)
class PlanReply:
    decision: PlanDecision
    feedback: str = ""
    """With `REFUSE`: what the person would have otherwise."""
    edited: str | None = None
    """With `APPROVE`: the plan as the person rewrote it."""


Request = ApprovalRequest | QuestionRequest | PlanRequest
Reply = ApprovalReply | QuestionReply | PlanReply


def unattended(request: Request) -> Reply:
    """The reply where nobody is there to give one."""
    match request:
        case ApprovalRequest():
            return ApprovalReply(Decision.NOBODY_THERE)
        case QuestionRequest():
            return QuestionReply(Attendance.NOBODY_THERE)
        case PlanRequest():
            return PlanReply(PlanDecision.NOBODY_THERE)
        case _:
            assert_never(request)


def cancels_turn(reply: Reply) -> bool:
    return isinstance(reply, ApprovalReply) and reply.decision is Decision.CANCEL_TURN
