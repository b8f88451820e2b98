"""Tool calls as an editor follows them: begun, asked about, running, ended."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from acp.helpers import start_tool_call, update_tool_call
from acp.schema import ToolCallStatus, ToolCallUpdate, ToolKind

from coder_tui.acp.content import arguments_of, content_of, fenced, place, places_of
from coder_tui.acp.updates import Update
from coder_tui.acp.wire import Outbox
from coder_tui.agent.session import Session
from coder_tui.protocol.access import ToolKind as OwnKind
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.events import (
    ChildEvent,
    SubagentEvent,
    SubagentFinished,
    SubagentStarted,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
)
from coder_tui.protocol.messages import ToolCall, ToolMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.text.safe_text import safe_line

PACE = 0.2
"""Seconds between two looks at a running call: each sends its text anew."""
LONGEST_TAIL = 8_000
_KINDS: dict[OwnKind, ToolKind] = {
    OwnKind.READ: "read",
    OwnKind.EDIT: "edit",
    OwnKind.DELETE: "delete",
    OwnKind.MOVE: "move",
    OwnKind.SEARCH: "search",
    OwnKind.EXECUTE: "execute",
    OwnKind.THINK: "think",
    OwnKind.FETCH: "fetch",
    OwnKind.OTHER: "other",
}


def kind_of(kind: OwnKind) -> ToolKind:
    return _KINDS[kind]


def title_of(tool: str, summary: str) -> str:
    return safe_line(f"{tool} {summary}".strip())


class Settle(Protocol):
    def __call__(self, *, is_allowed: bool) -> None: ...


def _nothing(*, is_allowed: bool) -> None:
    """The call itself tells how it ends."""


class Calls:
    """`later` runs a function after some seconds, as a loop does."""

    def __init__(
        self, session: Session, outbox: Outbox, later: Callable[[float, Callable[[], None]], object]
    ) -> None:
        self._session = session
        self._outbox = outbox
        self._later = later
        self._open: set[str] = set()
        self._tails: dict[str, str] = {}
        self._due: set[str] = set()

    def started(self, event: ToolStarted) -> None:
        self._open.add(event.call_id)
        arguments = self._arguments(event.call_id)
        self._outbox.put(
            start_tool_call(
                event.call_id,
                title_of(event.tool, event.summary),
                kind=kind_of(event.kind),
                status="in_progress",
                locations=places_of(arguments, self._session.directory),
                raw_input=arguments,
            )
        )

    def progressed(self, event: ToolProgressed) -> None:
        self._grow(event.call_id, event.text)

    def child_did(self, event: SubagentEvent) -> None:
        """What sub-agents do is seen in the call that asked for them."""
        if line := _child_line(event.agent, event.event):
            self._grow(event.parent_call_id, f"{line}\n")

    def allowed(self, call_id: str) -> None:
        if call_id in self._open:
            self._outbox.put(update_tool_call(call_id, status="in_progress"))

    @contextmanager
    def shown(self, call: ToolCallUpdate) -> Iterator[Settle]:
        """Tells the editor of a call that it does not know, and in the end how it was answered."""
        if call.tool_call_id in self._open:
            yield _nothing
            return
        states: list[ToolCallStatus] = ["failed"]
        self._outbox.put(
            start_tool_call(call.tool_call_id, call.title or "", kind=call.kind, status="pending")
        )
        try:
            yield lambda *, is_allowed: states.append("completed" if is_allowed else "failed")
        finally:
            self._outbox.put(update_tool_call(call.tool_call_id, status=states[-1]))

    def finished(self, event: ToolFinished) -> None:
        # Read now: what the model was told is there, and an undo may take it away.
        record = self._session.record
        self.ended(event, record.call(event.call_id), record.result(event.call_id))

    def ended(self, event: ToolFinished, call: ToolCall | None, result: ToolMessage | None) -> None:
        """Also for one of long ago."""
        self._tails.pop(event.call_id, None)
        was_told = event.call_id in self._open
        self._open.discard(event.call_id)
        arguments = arguments_of(call.arguments) if call is not None else None
        output = arguments_of(result.content) if result is not None else None
        self._outbox.put(partial(self._end, event, arguments, output, was_told))

    def _end(self, event: ToolFinished, arguments: Any, output: Any, was_told: bool) -> Update:
        directory = self._session.directory
        status: ToolCallStatus = "completed" if event.outcome is Outcome.OK else "failed"
        content = content_of(event.display, directory, is_done=event.outcome is Outcome.OK)
        places = places_of(arguments, directory)
        if isinstance(event.display, DiffBlock) and event.display.path:
            places = [place(Path(event.display.path), directory, _first_line(event.display.diff))]
        tell = update_tool_call if was_told else partial(start_tool_call, kind=self._kind(event.tool))
        return tell(
            event.call_id,
            title=title_of(event.tool, event.summary),
            status=status,
            content=content,
            locations=places,
            raw_input=arguments if not was_told else None,
            raw_output=output,
        )

    def _grow(self, call_id: str, text: str) -> None:
        self._tails[call_id] = (self._tails.get(call_id, "") + text)[-LONGEST_TAIL:]
        if call_id not in self._due:
            self._due.add(call_id)
            self._later(PACE, partial(self._show_tail, call_id))

    def _show_tail(self, call_id: str) -> None:
        self._due.discard(call_id)
        if call_id in self._open and (tail := self._tails.get(call_id)):
            self._outbox.put(update_tool_call(call_id, content=[fenced(tail, "console")]))

    def _arguments(self, call_id: str) -> Any:
        call = self._session.record.call(call_id)
        return None if call is None else arguments_of(call.arguments)

    def _kind(self, tool: str) -> ToolKind:
        try:
            return kind_of(self._session.facts.registry.get(tool).kind)
        except ToolError:
            return "other"


def _first_line(diff: str) -> int | None:
    """Where the change is, counted in the new file."""
    _, mark, rest = diff.partition("\n@@ -")
    _, _, new = rest.partition(" +")
    number = new.partition(" ")[0].partition(",")[0]
    return max(1, int(number)) if mark and number.isdecimal() else None


def _child_line(agent: str, event: ChildEvent) -> str:
    match event:
        case SubagentStarted():
            return f"… {agent}: {first_line(event.objective)}"
        case ToolFinished():
            return f"{agent}: {event.tool} {event.summary}, {event.outcome}"
        case SubagentFinished():
            return f"{agent}, {event.state}: {first_line(event.summary)}"
        case _:
            return ""
