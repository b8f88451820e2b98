"""The stream from the core to every front end: facts in the past tense, streams end in Delta."""

from dataclasses import dataclass

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.diagnostics import Diagnostic, ProposalCheck, ServerStatus
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import NoticeLevel, Outcome, TurnOutcome
from coder_tui.protocol.requests import Reply, Request
from coder_tui.protocol.subagents import ChildState
from coder_tui.protocol.todos import TodoItem


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """`is_confined` says whether commands run in a sandbox."""

    session_id: str
    title: str
    directory: str
    model: str
    mode: Mode
    resumed: bool
    is_confined: bool = True


@dataclass(frozen=True, slots=True)
class SessionRenamed:
    title: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """`context_window` is in tokens, None where nobody knows it."""

    model: str
    context_window: int | None


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: Mode


@dataclass(frozen=True, slots=True)
class ProfileChanged:
    """The profile of this name leads from here on."""

    profile: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int


@dataclass(frozen=True, slots=True)
class UserMessageAdded:
    """Stored: a message is shown as sent only once it cannot be lost. Not `is_typed`: the program's own."""

    message_id: str
    text: str
    is_typed: bool = True


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Messages typed while the agent works, in order; they go out at its next step."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextDelta:
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class MessageFinished:
    """A model reply is stored. `text` is whole; `interrupted` when the person stopped it midway."""

    message_id: str
    text: str
    thinking: str
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class TurnFinished:
    turn: int
    outcome: TurnOutcome
    message: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """The model could not be reached or did not answer; the session goes on."""

    turn: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class ToolProposed:
    """The model is writing a call; comes again as its arguments grow. `received` counts characters."""

    call_id: str
    tool: str
    received: int


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The call is understood and about to be decided or run. A RequestOpened with its call id may follow."""

    call_id: str
    tool: str
    kind: ToolKind
    summary: str


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """A further piece of live output."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    call_id: str
    tool: str
    outcome: Outcome
    summary: str
    display: DisplayBlock
    duration_ms: int


@dataclass(frozen=True, slots=True)
class RequestOpened:
    request: Request


@dataclass(frozen=True, slots=True)
class RequestClosed:
    """Answered or withdrawn; `reply` is None when withdrawn."""

    request_id: str
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class UsageUpdated:
    """`context_tokens` is what the last request filled of the window."""

    turn: Usage
    session: Usage
    context_tokens: int
    context_window: int | None


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A summary of the conversation is being written."""


@dataclass(frozen=True, slots=True)
class CompactionFinished:
    """Tokens of the next request before and after, estimated; the same where it failed or was stopped.

    `messages` is how many the summary stands for, or how many results were left out.
    """

    tokens_before: int
    tokens_after: int
    messages: int

    @property
    def sentence(self) -> str:
        """What to tell a person; nothing where nothing came of it."""
        sizes = f"about {self.tokens_before:,} tokens became {self.tokens_after:,}"
        if self.tokens_after > self.tokens_before:
            return f"The model is sent everything again: {sizes}."
        if not self.messages or self.tokens_after == self.tokens_before:
            return ""
        return f"Compacted {self.messages} messages: {sizes}. /compact undo takes it back."


@dataclass(frozen=True, slots=True)
class TodosChanged:
    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True)
class FilesChanged:
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiagnosticsChanged:
    """All that is known of a file now; empty when everything in it was mended."""

    path: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class DiagnosticsAwaited:
    """All files that were changed and of which no word has come yet: what was known of them may not hold."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposalChecked:
    """What language servers say of a change that waits for an answer; comes again when they know more."""

    call_id: str
    check: ProposalCheck


@dataclass(frozen=True, slots=True)
class ServerStatusChanged:
    """A language server started, works or fails; `detail` says why and what to do."""

    server: str
    language: str
    status: ServerStatus
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The last attempt failed and what it streamed does not count; `delay` in seconds."""

    attempt: int
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    level: NoticeLevel
    text: str


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A sub-agent was asked for; it begins (`TurnStarted`) when there is room for one more."""

    objective: str
    model: str


@dataclass(frozen=True, slots=True)
class SubagentFinished:
    state: ChildState
    summary: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class SubagentEvent:
    """What happened in a sub-agent; `agent` is its name among its siblings."""

    parent_call_id: str
    child_id: str
    agent: str
    event: "ChildEvent"


Event = (
    SessionStarted
    | SessionRenamed
    | ModelChanged
    | ModeChanged
    | ProfileChanged
    | TurnStarted
    | UserMessageAdded
    | QueueChanged
    | TextDelta
    | ThinkingDelta
    | MessageFinished
    | TurnFinished
    | TurnFailed
    | ToolProposed
    | ToolStarted
    | ToolProgressed
    | ToolFinished
    | RequestOpened
    | RequestClosed
    | UsageUpdated
    | CompactionStarted
    | CompactionFinished
    | TodosChanged
    | FilesChanged
    | DiagnosticsChanged
    | DiagnosticsAwaited
    | ProposalChecked
    | ServerStatusChanged
    | RetryScheduled
    | Notice
    | SubagentEvent
)

ChildEvent = Event | SubagentStarted | SubagentFinished
