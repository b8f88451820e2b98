"""Requests of the core to the user, and the replies."""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.comparison import Comparison
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
    """Exactly this target."""
    FOLDER = "folder"
    """A folder and everything below it."""
    GLOB = "glob"
    """A rule's pattern, as in settings."""


class GrantScope(StrEnum):
    """How long a grant applies, and where it is stored."""

    SESSION = "session"
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Grant:
    """What "allow always" would add. `key` is a tool or group. Each part of a command needs a pattern."""

    key: str
    patterns: tuple[str, ...]
    label: str
    form: GrantForm = GrantForm.EXACT
    scope: GrantScope = GrantScope.SESSION


@dataclass(frozen=True, slots=True)
class Editable:
    """The part of a call that the user may edit before it runs. `suffix` tells an editor the file type."""

    field: str
    text: str
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """May this call run? Has everything that a dialog shows. `grants` are the choices of "always"."""

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
    """How a command would be confined, in short. Empty unless it is a command."""
    editable: Editable | None = None
    agent: str = ""
    """The agent that asks, if it is not the main agent."""
    child_id: str = ""
    """The id of that sub-agent."""
    covered: tuple[tuple[str, ...], ...] = ()
    """For each grant, the earlier requests of this session that it would have allowed."""
    files: tuple[Comparison, ...] = ()
    """The diff of the preview as data. Empty if single hunks cannot be refused."""
    is_in_turn: bool = True
    """Whether a turn waits for the answer, so that it can be stopped instead."""

    @property
    def hunk_ids(self) -> tuple[str, ...]:
        """The ids of hunks that can be refused, from top to bottom."""
        return tuple(hunk.id for file in self.files for hunk in file.hunks)

    @property
    def is_new_file(self) -> bool:
        """Whether it only writes new files, so that there is no old version."""
        if not isinstance(self.preview, DiffBlock) or self.preview.deletions:
            return False
        heads = f"\n{self.preview.diff}".count("\n--- ")
        return 0 < heads == f"\n{self.preview.diff}".count("\n--- /dev/null\n")

    @property
    def is_command(self) -> bool:
        """Whether it is a command. Undo restores the files that a command changed, but no other effect."""
        return bool(self.sandbox)


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    decision: Decision
    message: str = ""
    grant: Grant | None = None
    edited: str | None = None
    """With `MODIFY`: the editable text as the user changed it."""
    refused: tuple[str, ...] = ()
    """The ids of refused hunks. The rest is allowed."""


RECOMMENDED = " (Recommended)"


@dataclass(frozen=True, slots=True)
class Option:
    """One of the proposed answers of a question."""

    label: str
    description: str = ""
    is_recommended: bool = False
    """Whether the model marked it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the user, who can always answer with their own text."""

    question: str
    options: tuple[Option, ...] = ()
    multi: bool = False
    """Whether several options may be picked."""
    header: str = ""
    """One or two words for its tab. Without them, the question is shown."""

    @property
    def recommended(self) -> tuple[int, ...]:
        """The indexes of the options that the model marked, or the first one."""
        marked = (place for place, option in enumerate(self.options) if option.is_recommended)
        return tuple(marked) or (0,)

    def mark_of(self, place: int) -> str:
        """Return the text after the label of an option."""
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
    """`picked` has labels of options. If everything is empty, the user did not answer."""

    picked: tuple[str, ...] = ()
    text: str = ""
    note: str = ""

    @property
    def is_given(self) -> bool:
        return bool(self.picked or self.text)


class Attendance(StrEnum):
    """Whether questions were answered."""

    ANSWERED = "answered"
    CANCELLED = "cancelled"
    NOBODY_THERE = "nobody_there"


@dataclass(frozen=True, slots=True)
class QuestionReply:
    """An answer for each question, in order. Empty unless they were answered."""

    attendance: Attendance
    answers: tuple[QuestionAnswer, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Should this plan be carried out? It is Markdown."""

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
    """With `REFUSE`: what the user wants instead."""
    edited: str | None = None
    """With `APPROVE`: the plan as the user changed it."""


Request = ApprovalRequest | QuestionRequest | PlanRequest
Reply = ApprovalReply | QuestionReply | PlanReply


def unattended(request: Request) -> Reply:
    """Return the reply if no user is present."""
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
