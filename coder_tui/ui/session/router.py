"""Routes each event of the session to the widget that shows it, and tracks the rows of running sub-agents."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from coder_tui.protocol.access import VERIFY
from coder_tui.protocol.child_progress import initial_line, updated_line
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
from coder_tui.ui.chrome.status_bar import Activity

if TYPE_CHECKING:
    from coder_tui.ui.session.screen import SessionScreen


class ChildRows:
    """Tracks the rows of sub-agents and shows them when they change; most events change nothing."""

    def __init__(self, show: Callable[[str, tuple[ChildLine, ...]], None]) -> None:
        self._show = show
        self._lines: dict[str, ChildLine] = {}
        self._calls: dict[str, str] = {}
        self._asking: dict[str, str] = {}

    def follow(self, event: SubagentEvent) -> None:
        if isinstance(event.event, SubagentStarted):
            self._calls[event.child_id] = event.parent_call_id
            self._lines[event.child_id] = initial_line(event.child_id, event.agent, event.event)
            self._show_call(event.parent_call_id)
        else:
            self._advance(event.child_id, event.event)

    def track_request(self, event: RequestOpened | RequestClosed) -> None:
        """Show in its row that a sub-agent waits for the user, until none of its requests is open."""
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
        after = updated_line(before, event)
        if after is not before:
            self._lines[child_id] = after
            self._show_call(self._calls[child_id])
        if after.state.is_over and all(
            self._lines[each].state.is_over for each in self._children_of(self._calls[child_id])
        ):
            self._forget(self._calls[child_id])

    def _show_call(self, call_id: str) -> None:
        self._show(call_id, tuple(self._lines[child_id] for child_id in self._children_of(call_id)))

    def _children_of(self, call_id: str) -> list[str]:
        return [child_id for child_id, call in self._calls.items() if call == call_id]

    def _forget(self, call_id: str) -> None:
        for child_id in self._children_of(call_id):
            del self._lines[child_id], self._calls[child_id]


STOPPED = "Stopped before the model replied."


class EventRouter:
    def __init__(self, screen: "SessionScreen") -> None:
        self._screen = screen
        self._widgets = screen.widgets
        self._waiting: dict[str, str] = {}
        self._previews: dict[str, DisplayBlock] = {}
        self._children = ChildRows(self._widgets.transcript.calls.show_children)
        self._checks: set[str] = set()
        self._is_in_turn = False
        self._is_silent = True
        """Whether the model has not shown anything in this turn yet."""
        self.title = ""
        self.sent: list[str] = []

    def route_earlier(self, events: Iterable[Event], *, is_again: bool) -> None:
        """Route earlier events; notices that were shown before go first, so they do not look new."""
        for event in sorted(events, key=lambda event: not isinstance(event, Notice)) if is_again else events:
            self.route(event)

    def route(self, event: Event) -> None:
        """Route one event; mypy fails here if a new kind of event has no case."""
        self._listen(event)
        transcript = self._widgets.transcript
        match event:
            case SessionStarted():
                self._started(event)
            case SessionRenamed(title):
                self._titled(title)
            case TurnStarted():
                self._is_in_turn = True
                self._show_activity()
            case UserMessageAdded(text=text, is_typed=False):
                transcript.add_note(NoticeLevel.INFO, text)
            case UserMessageAdded(message_id, text):
                transcript.add_user(message_id, text)
                self.sent.append(text)
                self._widgets.sender.mark_stored(text)
            case QueueChanged(texts):
                self._widgets.queue.show(texts)
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
                self._route_notice(event)
            case ModelChanged() | ModeChanged() | ProfileChanged() | TodosChanged() | FilesChanged():
                self._route_state(event)
            case DiagnosticsChanged() | DiagnosticsAwaited() | ProposalChecked() | ServerStatusChanged():
                self._route_problems(event)
            case UsageUpdated():
                self._used(event)
            case ToolProposed() | ToolStarted() | ToolProgressed() | ToolFinished():
                self._route_tool(event)
            case RequestOpened() | RequestClosed():
                self._children.track_request(event)
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

    def _route_state(
        self, event: ModelChanged | ModeChanged | ProfileChanged | TodosChanged | FilesChanged
    ) -> None:
        match event:
            case ModelChanged(model, window):
                self._screen.status.show(model=model, context_window=window)
            case ModeChanged(mode):
                self._screen.status.show(mode=mode)
            case ProfileChanged(profile):
                self._screen.status.show(profile=profile)
            case TodosChanged(items):
                self._widgets.dock.show_todos(items)
            case FilesChanged():
                self._screen.body.refresh_changes()
            case _:
                assert_never(event)

    def _route_problems(
        self, event: DiagnosticsChanged | DiagnosticsAwaited | ProposalChecked | ServerStatusChanged
    ) -> None:
        match event:
            case DiagnosticsChanged(path, diagnostics):
                self._widgets.dock.show_problems(path, diagnostics)
            case DiagnosticsAwaited(paths):
                self._widgets.dock.show_awaited(paths)
            case ProposalChecked(call_id, check):
                self._widgets.presenter.checks.record(call_id, check)
            case ServerStatusChanged(server, _, status, detail):
                self._widgets.dock.show_server(server, status)
                if status is ServerStatus.CRASHED:
                    self._widgets.transcript.add_note(NoticeLevel.WARNING, f"[LSP] {server}: {detail}")
            case _:
                assert_never(event)

    def _route_notice(self, event: RetryScheduled | Notice | CompactionStarted | CompactionFinished) -> None:
        transcript = self._widgets.transcript
        match event:
            case RetryScheduled(attempt, delay, reason):
                transcript.discard_stream(f"{reason} Attempt {attempt} failed, retrying in {delay:.0f} s.")
            case Notice(level, text):
                transcript.add_note(level, text)
            case CompactionStarted():
                self._screen.status.show(activity=Activity.WORKING)
                transcript.add_note(NoticeLevel.INFO, "Summarising the conversation …")
            case CompactionFinished():
                self._show_activity()
                if event.sentence:
                    transcript.add_note(NoticeLevel.INFO, event.sentence)
            case _:
                assert_never(event)

    def _route_tool(self, event: ToolProposed | ToolStarted | ToolProgressed | ToolFinished) -> None:
        transcript = self._widgets.transcript
        match event:
            case ToolProposed(call_id, tool, received):
                transcript.tail.propose(call_id, tool, received)
            case ToolStarted(call_id, tool, kind, summary):
                transcript.start_tool(call_id, tool, kind, summary)
                if tool == VERIFY:
                    self._checks.add(call_id)
                    self._show_activity()
            case ToolProgressed(call_id, text):
                transcript.calls.progress(call_id, text)
            case ToolFinished(call_id):
                preview = self._previews.pop(call_id, None)
                is_refused = event.outcome in {Outcome.DENIED, Outcome.CANCELLED}
                transcript.finish_tool(event, preview if is_refused else None)
                self._checks.discard(call_id)
                self._show_activity()
            case _:
                assert_never(event)

    def _route_request(self, event: RequestOpened | RequestClosed) -> None:
        if isinstance(event, RequestOpened):
            request = event.request
            self._waiting[request.id] = request.call_id
            if isinstance(request, ApprovalRequest) and not request.child_id:
                self._previews[request.call_id] = request.preview
            self._widgets.transcript.calls.wait(request.call_id)
            self._widgets.presenter.opened(request)
        else:
            if (call_id := self._waiting.pop(event.request_id, None)) is not None:
                self._widgets.transcript.calls.resume(call_id)
            self._widgets.presenter.closed(event.request_id)
        self._show_activity()

    def _show_activity(self) -> None:
        """Show what is going on; a user's own command may also ask or check while no turn runs."""
        resting = Activity.WORKING if self._is_in_turn else Activity.IDLE
        busy = Activity.CHECKING if self._checks else resting
        self._screen.status.show(activity=Activity.WAITING if self._waiting else busy)

    def _started(self, event: SessionStarted) -> None:
        self._titled(event.title)
        self._screen.status.show(
            mode=event.mode,
            model=event.model,
            directory=Path(event.directory),
            activity=Activity.IDLE,
            is_confined=event.is_confined,
        )

    def _titled(self, title: str) -> None:
        self.title = title
        self._screen.body.show_title(title)

    def _used(self, event: UsageUpdated) -> None:
        self._screen.status.show(
            context_tokens=event.context_tokens,
            context_window=event.context_window,
            tokens=event.session.total_tokens,
            cost=event.session.cost,
        )

    def _failed(self, message: str) -> None:
        self._widgets.transcript.add_note(NoticeLevel.ERROR, message)
        self._widgets.sender.return_unstored()
        self._ended()

    def _finished(self, event: TurnFinished) -> None:
        match event.outcome:
            case TurnOutcome.DONE:
                pass
            case TurnOutcome.INTERRUPTED:
                self._widgets.sender.return_unstored()
                if self._is_silent:
                    self._widgets.transcript.add_note(NoticeLevel.INFO, STOPPED)
            case TurnOutcome.LIMIT:
                self._widgets.sender.return_unstored()
                self._widgets.transcript.add_note(NoticeLevel.WARNING, event.message)
            case _:
                assert_never(event.outcome)
        self._ended()

    def _ended(self) -> None:
        self._widgets.transcript.tail.drop_proposals()  # calls that were announced and never came
        self._is_in_turn = False
        self._show_activity()
        self._screen.turn_ended()
