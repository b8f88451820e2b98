"""Takes each event of the core to the one widget that shows it.

Keeps the rows of sub-agents that are under way, and tells of a call whose rows have changed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from coder_tui.protocol.access import VERIFY
from coder_tui.protocol.child_progress import begun, followed
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.events import (
    ChildEvent,
    CompactionFinished,
    CompactionStarted,
    DiagnosticsAwaited,
    DiagnosticsChanged,
    Event,
    FilesChanged,
    MessageFinished,
    ModeChanged,
    ModelChanged,
    Notice,
    ProfileChanged,
    ProposalChecked,
    QueueChanged,
    RequestClosed,
    RequestOpened,
    RetryScheduled,
    ServerStatusChanged,
    SessionRenamed,
    SessionStarted,
    SubagentEvent,
    SubagentStarted,
    TextDelta,
    ThinkingDelta,
    TodosChanged,
    ToolFinished,
    ToolProgressed,
    ToolProposed,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
    UserMessageAdded,
)
from coder_tui.protocol.outcomes import NoticeLevel, Outcome, TurnOutcome
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.protocol.subagents import ChildLine
from coder_tui.ui.chrome.banners import QueueLine
from coder_tui.ui.chrome.status_bar import Activity, StatusBar
from coder_tui.ui.panes.dock import Dock
from coder_tui.ui.requests.presenter import RequestPresenter
from coder_tui.ui.session.sender import Conversation
from coder_tui.ui.transcript.transcript import Transcript


class ChildRows:
    """Most events of a sub-agent, every piece of its text among them, change nothing in its row."""

    def __init__(self, show: Callable[[str, tuple[ChildLine, ...]], None]) -> None:
        self._show = show
        self._lines: dict[str, ChildLine] = {}
        self._calls: dict[str, str] = {}
        self._asking: dict[str, str] = {}

    def follow(self, event: SubagentEvent) -> None:
        match event.event:
            case SubagentStarted() as started:
                self._calls[event.child_id] = event.parent_call_id
                self._lines[event.child_id] = begun(event.child_id, event.agent, started)
                self._tell(event.parent_call_id)
            case other:
                self._advance(event.child_id, other)

    def hear(self, event: RequestOpened | RequestClosed) -> None:
        """A sub-agent that waits for the person says so in its row, until nothing of it waits any more."""
        match event:
            case RequestOpened(ApprovalRequest(id=request_id, child_id=child_id)) if child_id:
                self._asking[request_id] = child_id
                self._advance(child_id, event)
            case RequestClosed(request_id) if request_id in self._asking:
                child_id = self._asking.pop(request_id)
                if child_id not in self._asking.values():
                    self._advance(child_id, event)
            case _:
                pass

    def _advance(self, child_id: str, event: ChildEvent) -> None:
        before = self._lines.get(child_id)
        if before is None:
            return
        after = followed(before, event)
        if after is not before:
            self._lines[child_id] = after
            self._tell(self._calls[child_id])
        if after.state.is_over and all(
            self._lines[each].state.is_over for each in self._of(self._calls[child_id])
        ):
            self._forget(self._calls[child_id])

    def _tell(self, call_id: str) -> None:
        self._show(call_id, tuple(self._lines[child_id] for child_id in self._of(call_id)))

    def _of(self, call_id: str) -> list[str]:
        return [child_id for child_id, call in self._calls.items() if call == call_id]

    def _forget(self, call_id: str) -> None:
        for child_id in self._of(call_id):
            del self._lines[child_id], self._calls[child_id]


STOPPED = "Stopped before the model had said anything."


@dataclass(frozen=True, slots=True)
class Panes:
    """All that an event can reach."""

    transcript: Transcript
    status: StatusBar
    dock: Dock
    queue: QueueLine
    conversation: Conversation
    presenter: RequestPresenter
    turn_ended: Callable[[], None]
    files_changed: Callable[[], None]
    titled: Callable[[str], None]


class EventRouter:
    def __init__(self, panes: Panes) -> None:
        self._panes = panes
        self._waiting: dict[str, str] = {}
        self._previews: dict[str, DisplayBlock] = {}
        self._children = ChildRows(panes.transcript.calls.show_children)
        self._checks: set[str] = set()
        self._is_in_turn = False
        self._is_silent = True
        """Whether nothing shows yet that the model was at work."""
        self.title = ""
        self.sent: list[str] = []

    def route_earlier(self, events: Iterable[Event], *, is_again: bool) -> None:
        """What happened before; notices that were shown before stand where they began, not as news."""
        for event in sorted(events, key=lambda event: not isinstance(event, Notice)) if is_again else events:
            self.route(event)

    def route(self, event: Event) -> None:
        """One case an event; mypy fails here when an event is new."""
        self._listen(event)
        transcript = self._panes.transcript
        match event:
            case SessionStarted():
                self._started(event)
            case SessionRenamed(title):
                self._titled(title)
            case ModelChanged() | ModeChanged() | ProfileChanged():
                self._route_choice(event)
            case TurnStarted():
                self._is_in_turn = True
                self._show_activity()
            case UserMessageAdded(text=text, is_typed=False):
                transcript.add_note(NoticeLevel.INFO, text)
            case UserMessageAdded(message_id, text):
                transcript.add_user(message_id, text)
                self.sent.append(text)
                self._panes.conversation.stored(text)
            case QueueChanged(texts):
                self._panes.queue.show(texts)
            case TextDelta(message_id, text):
                transcript.stream_text(message_id, text)
            case ThinkingDelta(message_id, text):
                transcript.stream_thinking(message_id, text)
            case MessageFinished(message_id, text, thinking, interrupted):
                transcript.finish_message(message_id, text, thinking, interrupted=interrupted)
            case TurnFinished():
                self._finished(event)
            case TurnFailed(_, message, hint):
                self._failed(f"{message} {hint}".strip())
            case RetryScheduled() | Notice() | CompactionStarted() | CompactionFinished():
                self._route_word(event)
            case TodosChanged() | FilesChanged():
                self._route_work(event)
            case DiagnosticsChanged() | DiagnosticsAwaited() | ProposalChecked() | ServerStatusChanged():
                self._route_problems(event)
            case UsageUpdated():
                self._used(event)
            case ToolProposed() | ToolStarted() | ToolProgressed() | ToolFinished():
                self._route_tool(event)
            case RequestOpened() | RequestClosed():
                self._children.hear(event)
                self._route_request(event)
            case SubagentEvent():
                self._children.follow(event)
            case _:
                assert_never(event)

    def _listen(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._is_silent = True
            case TextDelta() | ThinkingDelta() | ToolProposed() | ToolStarted():
                self._is_silent = False
            case MessageFinished(text=text, thinking=thinking) if text or thinking:
                self._is_silent = False
            case _:
                pass

    def _route_choice(self, event: ModelChanged | ModeChanged | ProfileChanged) -> None:
        status = self._panes.status
        match event:
            case ModelChanged(model, window):
                status.show(model=model, context_window=window)
            case ModeChanged(mode):
                status.show(mode=mode)
            case ProfileChanged(profile):
                status.show(profile=profile)
            case _:
                assert_never(event)

    def _route_work(self, event: TodosChanged | FilesChanged) -> None:
        match event:
            case TodosChanged(items):
                self._panes.dock.show_todos(items)
            case FilesChanged():
                self._panes.files_changed()
            case _:
                assert_never(event)

    def _route_problems(
        self, event: DiagnosticsChanged | DiagnosticsAwaited | ProposalChecked | ServerStatusChanged
    ) -> None:
        match event:
            case DiagnosticsChanged(path, diagnostics):
                self._panes.dock.show_problems(path, diagnostics)
            case DiagnosticsAwaited(paths):
                self._panes.dock.show_awaited(paths)
            case ProposalChecked(call_id, check):
                self._panes.presenter.checks.take(call_id, check)
            case ServerStatusChanged(server, _, status, detail):
                self._panes.dock.show_server(server, status)
                if status is ServerStatus.CRASHED:
                    self._panes.transcript.add_note(NoticeLevel.WARNING, f"[LSP] {server}: {detail}")
            case _:
                assert_never(event)

    def _route_word(self, event: RetryScheduled | Notice | CompactionStarted | CompactionFinished) -> None:
        transcript = self._panes.transcript
        match event:
            case RetryScheduled(attempt, delay, reason):
                transcript.discard_stream(f"{reason} Attempt {attempt} failed, again in {delay:.0f} s.")
            case Notice(level, text):
                transcript.add_note(level, text)
            case CompactionStarted():
                self._panes.status.show(activity=Activity.WORKING)
                transcript.add_note(NoticeLevel.INFO, "Summarising the conversation …")
            case CompactionFinished():
                self._show_activity()
                if event.sentence:
                    transcript.add_note(NoticeLevel.INFO, event.sentence)
            case _:
                assert_never(event)

    def _route_tool(self, event: ToolProposed | ToolStarted | ToolProgressed | ToolFinished) -> None:
        transcript = self._panes.transcript
        match event:
            case ToolProposed(call_id, tool, received):
                transcript.propose_tool(call_id, tool, received)
            case ToolStarted(call_id, tool, kind, summary):
                transcript.start_tool(call_id, tool, kind, summary)
                if tool == VERIFY:
                    self._checks.add(call_id)
                    self._show_activity()
            case ToolProgressed(call_id, text):
                transcript.progress_tool(call_id, text)
            case ToolFinished(call_id, tool, outcome, summary, display, duration_ms):
                preview = self._previews.pop(call_id, None)
                is_refused = outcome in {Outcome.DENIED, Outcome.CANCELLED}
                proposal = preview if is_refused else None
                transcript.finish_tool(call_id, tool, outcome, summary, display, duration_ms, proposal)
                self._checks.discard(call_id)
                self._show_activity()
            case _:
                assert_never(event)

    def _route_request(self, event: RequestOpened | RequestClosed) -> None:
        panes = self._panes
        match event:
            case RequestOpened(request):
                self._waiting[request.id] = request.call_id
                if isinstance(request, ApprovalRequest) and not request.child_id:
                    self._previews[request.call_id] = request.preview
                panes.transcript.wait_tool(request.call_id)
                panes.presenter.opened(request)
            case RequestClosed(request_id):
                if (call_id := self._waiting.pop(request_id, None)) is not None:
                    panes.transcript.resume_tool(call_id)
                panes.presenter.closed(request_id)
            case _:
                assert_never(event)
        self._show_activity()

    def _show_activity(self) -> None:
        """A command of the person's may ask or check, too, while no turn runs."""
        resting = Activity.WORKING if self._is_in_turn else Activity.IDLE
        busy = Activity.CHECKING if self._checks else resting
        self._panes.status.show(activity=Activity.WAITING if self._waiting else busy)

    def _started(self, event: SessionStarted) -> None:
        self._titled(event.title)
        self._panes.status.show(
            mode=event.mode,
            model=event.model,
            directory=Path(event.directory),
            activity=Activity.IDLE,
            is_confined=event.is_confined,
        )

    def _titled(self, title: str) -> None:
        self.title = title
        self._panes.titled(title)

    def _used(self, event: UsageUpdated) -> None:
        self._panes.status.show(
            context_tokens=event.context_tokens,
            context_window=event.context_window,
            tokens=event.session.total_tokens,
            cost=event.session.cost,
        )

    def _failed(self, message: str) -> None:
        self._panes.transcript.add_note(NoticeLevel.ERROR, message)
        self._panes.conversation.failed()
        self._ended()

    def _finished(self, event: TurnFinished) -> None:
        match event.outcome:
            case TurnOutcome.DONE:
                pass
            case TurnOutcome.INTERRUPTED:
                self._panes.conversation.failed()
                if self._is_silent:
                    self._panes.transcript.add_note(NoticeLevel.INFO, STOPPED)
            case TurnOutcome.LIMIT:
                self._panes.conversation.failed()
                self._panes.transcript.add_note(NoticeLevel.WARNING, event.message)
            case _:
                assert_never(event.outcome)
        self._ended()

    def _ended(self) -> None:
        self._panes.transcript.end_turn()
        self._is_in_turn = False
        self._show_activity()
        self._panes.turn_ended()
