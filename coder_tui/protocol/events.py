"""The events from the core to every front end: facts in the past tense. Names of streams end in Delta."""

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
    """A session was opened. `is_confined` if commands run in a sandbox."""

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
    """Another model is used. `context_window` is in tokens, or None if unknown."""

    model: str
    context_window: int | None


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: Mode


@dataclass(frozen=True, slots=True)
class ProfileChanged:
    """The profile of this name is active from now on."""

    profile: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    turn: int


@dataclass(frozen=True, slots=True)
class UserMessageAdded:
    """A message was stored, so it can be shown as sent. Unless `is_typed`, the program wrote it."""

    message_id: str
    text: str
    is_typed: bool = True


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Messages that were typed while the agent works, in order. They are sent at its next step."""

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
    """A model reply was stored. `text` is complete. `interrupted` if the user stopped it."""

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
    """The model could not be reached or did not answer. The session continues."""

    turn: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class ToolProposed:
    """The model is writing a call. Repeated as its arguments grow; `received` counts characters."""

    call_id: str
    tool: str
    received: int


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """The call was parsed and will be decided or run. A RequestOpened with its call id may follow."""

    call_id: str
    tool: str
    kind: ToolKind
    summary: str


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """Another piece of live output."""

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
    """A request was answered or withdrawn. `reply` is None if withdrawn."""

    request_id: str
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class UsageUpdated:
    """`context_tokens` is how much of the context window the last request used."""

    turn: Usage
    session: Usage
    context_tokens: int
    context_window: int | None


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """A summary of the conversation is being written."""


@dataclass(frozen=True, slots=True)
class CompactionFinished:
    """The estimated tokens of the next request before and after, equal if it failed or was stopped.

    `messages` is how many messages the summary replaces, or how many results were left out.
    """

    tokens_before: int
    tokens_after: int
    messages: int

    @property
    def sentence(self) -> str:
        """The text for the user, or nothing if nothing changed."""
        sizes = f"about {self.tokens_before:,} tokens became {self.tokens_after:,}"
        if self.tokens_after > self.tokens_before:
            return f"The model is sent everything again: {sizes}."
        if not self.messages or self.tokens_after == self.tokens_before:
            return ""
        return f"Compacted {self.messages} messages: {sizes}. Undo with /compact undo."


@dataclass(frozen=True, slots=True)
class TodosChanged:
    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True)
class FilesChanged:
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DiagnosticsChanged:
    """All known problems of a file. Empty if all were fixed."""

    path: str
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class DiagnosticsAwaited:
    """All changed files without a new report. What was known about them may be outdated."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProposalChecked:
    """Language servers checked a change that waits for approval. Repeated when they know more."""

    call_id: str
    check: ProposalCheck


@dataclass(frozen=True, slots=True)
class ServerStatusChanged:
    """A language server started, works or failed. `detail` says why and what to do."""

    server: str
    language: str
    status: ServerStatus
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The last attempt failed, and its output does not count. `delay` is in seconds."""

    attempt: int
    delay: float
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    level: NoticeLevel
    text: str


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A sub-agent was requested. It begins (`TurnStarted`) when another one may run."""

    objective: str
    model: str


@dataclass(frozen=True, slots=True)
class SubagentFinished:
    state: ChildState
    summary: str
    duration_ms: int


@dataclass(frozen=True, slots=True)
class SubagentEvent:
    """An event of a sub-agent. `agent` is its name among its siblings."""

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
