"""Keeps the rows of sub-agents that are under way, and tells of a call whose rows have changed."""

from collections.abc import Callable

from coder_tui.protocol.child_progress import begun, followed
from coder_tui.protocol.events import (
    ChildEvent,
    RequestClosed,
    RequestOpened,
    SubagentEvent,
    SubagentStarted,
)
from coder_tui.protocol.requests import ApprovalRequest
from coder_tui.protocol.subagents import ChildLine


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
