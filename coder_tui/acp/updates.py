"""Converts events of a session into updates for an editor, and lists the options that it can set.

`Outbox` sends the updates of one session in order, as fast as the editor reads. `CallUpdates` reports tool
calls: started, waiting for approval, running, finished.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from acp import Client, schema
from acp.helpers import (
    SessionUpdate,
    plan_entry,
    start_tool_call,
    text_block,
    update_current_mode,
    update_plan,
    update_tool_call,
)
from acp.schema import ToolCallStatus, ToolCallUpdate, ToolKind

from coder_tui.acp.content import arguments_of, content_of, fenced, location, locations_of
from coder_tui.agent.session import Session
from coder_tui.protocol import events
from coder_tui.protocol.access import Mode
from coder_tui.protocol.access import ToolKind as OwnKind
from coder_tui.protocol.child_progress import first_line
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.events import ChildEvent, Event
from coder_tui.protocol.messages import ToolCall, ToolMessage
from coder_tui.protocol.outcomes import NoticeLevel, Outcome
from coder_tui.text.safe_text import safe_line, safe_text

Update = SessionUpdate | schema.ConfigOptionUpdate | schema.UsageUpdate


def update_of(event: Event) -> Update | None:
    """Return the update for an event, or None. Calls and requests are handled elsewhere."""
    match event:
        case events.TextDelta(message_id, text):
            return message(text, message_id)
        case events.ThinkingDelta(message_id, text):
            return thought(text, message_id)
        case events.Notice(NoticeLevel.INFO, text):
            return thought(f"{text}\n\n")
        case events.Notice(_, text):
            return remark(text)
        case events.TurnFinished(message=text) if text:
            return remark(text)
        case events.RetryScheduled():
            return thought(f"{event.reason} Trying again in {event.delay:.0f} s.\n\n")
        case events.CompactionFinished() if event.sentence:
            return thought(f"{event.sentence}\n\n")
        case events.TodosChanged(items):
            return update_plan(
                plan_entry(safe_text(item.content), priority=item.priority.value, status=item.status.value)
                for item in items
            )
        case events.ModeChanged(mode):
            return update_current_mode(mode.value)
        case events.SessionRenamed(title):
            return schema.SessionInfoUpdate(session_update="session_info_update", title=safe_line(title))
        case events.UsageUpdated(context_window=int(window)):
            return _usage(event, window)
        case _:
            return None


def message(text: str, message_id: str | None = None) -> schema.AgentMessageChunk:
    block = text_block(safe_text(text))
    return schema.AgentMessageChunk(
        session_update="agent_message_chunk", content=block, message_id=message_id
    )


def thought(text: str, message_id: str | None = None) -> schema.AgentThoughtChunk:
    block = text_block(safe_text(text))
    return schema.AgentThoughtChunk(
        session_update="agent_thought_chunk", content=block, message_id=message_id
    )


def remark(text: str) -> schema.AgentMessageChunk:
    """Return a message of the program, set apart from the model's text."""
    return message(f"\n\n{text}\n\n")


def report(text: str) -> schema.AgentMessageChunk:
    """Return the output of a command. Its line breaks are kept, although editors render Markdown."""
    return remark(f"```\n{text}\n```" if "\n" in text else text)


def user_message(text: str, message_id: str | None = None) -> schema.UserMessageChunk:
    block = text_block(safe_text(text))
    return schema.UserMessageChunk(session_update="user_message_chunk", content=block, message_id=message_id)


def _usage(event: events.UsageUpdated, window: int) -> schema.UsageUpdate:
    spent = event.session.cost
    cost = None if spent is None else schema.Cost(amount=spent, currency="USD")
    return schema.UsageUpdate(
        session_update="usage_update", used=event.context_tokens, size=window, cost=cost
    )


MODES = {
    Mode.ASK: ("Ask", "Ask before changing files or running commands"),
    Mode.EDITS: ("Edits", "Change files in the project without asking, ask before commands"),
    Mode.AUTO: ("Auto", "Run everything without asking, except what rules or protections forbid"),
    Mode.PLAN: ("Plan", "Read files, ask questions and make a plan; change nothing"),
}


def modes_of(mode: Mode) -> schema.SessionModeState:
    available = [
        schema.SessionMode(id=each.value, name=name, description=about)
        for each, (name, about) in MODES.items()
    ]
    return schema.SessionModeState(current_mode_id=mode.value, available_modes=available)


MODE, MODEL = "mode", "model"
Options = list[schema.SessionConfigOptionSelect]


def config_options(mode: Mode, model: str, models: Iterable[str]) -> Options:
    """Return all options, as the protocol wants them each time."""
    names = dict.fromkeys((model, *models))
    return [
        schema.SessionConfigOptionSelect(
            id=MODE,
            name="Mode",
            description="What may run without asking",
            category="mode",
            type="select",
            current_value=mode.value,
            options=[
                schema.SessionConfigSelectOption(value=each.value, name=name, description=about)
                for each, (name, about) in MODES.items()
            ],
        ),
        schema.SessionConfigOptionSelect(
            id=MODEL,
            name="Model",
            category="model",
            type="select",
            current_value=model,
            options=[schema.SessionConfigSelectOption(value=name, name=safe_line(name)) for name in names],
        ),
    ]


def update_options(options: Options) -> schema.ConfigOptionUpdate:
    return schema.ConfigOptionUpdate(session_update="config_option_update", config_options=[*options])


Late = Callable[[], Update]
"""Makes an update when it is its turn. Runs in a thread, because it reads files."""


class Outbox:
    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self._waiting: asyncio.Queue[Update | Late] = asyncio.Queue()
        self._task = asyncio.create_task(self._send_all())

    def put(self, update: Update | Late) -> None:
        self._waiting.put_nowait(update)

    async def flush(self) -> None:
        """Wait until everything is sent. Raises `ConnectionError` if nobody reads it any more."""
        joined = asyncio.ensure_future(self._waiting.join())
        await asyncio.wait({joined, self._task}, return_when=asyncio.FIRST_COMPLETED)
        joined.cancel()
        if self._task.done() and not self._task.cancelled():
            self._task.result()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _send_all(self) -> None:
        while True:
            update = await self._waiting.get()
            try:
                made = await asyncio.to_thread(update) if callable(update) else update
                await self._client.session_update(self._session_id, made)
            finally:
                self._waiting.task_done()


PACE = 0.2
"""Seconds between two updates of a running call: each sends its whole text again."""
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


class CallUpdates:
    """Sends updates of calls. `later` runs a function after some seconds, like `loop.call_later`."""

    def __init__(
        self, session: Session, outbox: Outbox, later: Callable[[float, Callable[[], None]], object]
    ) -> None:
        self._session = session
        self._outbox = outbox
        self._later = later
        self._open: set[str] = set()
        self._tails: dict[str, str] = {}
        self._due: set[str] = set()

    def started(self, event: events.ToolStarted) -> None:
        self._open.add(event.call_id)
        arguments = self._arguments(event.call_id)
        self._outbox.put(
            start_tool_call(
                event.call_id,
                title_of(event.tool, event.summary),
                kind=kind_of(event.kind),
                status="in_progress",
                locations=locations_of(arguments, self._session.directory),
                raw_input=arguments,
            )
        )

    def progressed(self, event: events.ToolProgressed) -> None:
        self._grow(event.call_id, event.text)

    def child_progressed(self, event: events.SubagentEvent) -> None:
        """Show what a sub-agent does in the call that started it."""
        if line := _child_line(event.agent, event.event):
            self._grow(event.parent_call_id, f"{line}\n")

    def allowed(self, call_id: str) -> None:
        if call_id in self._open:
            self._outbox.put(update_tool_call(call_id, status="in_progress"))

    def announce(self, call: ToolCallUpdate) -> bool:
        """Announce a call unless the editor knows it: then the call itself reports how it ends."""
        if call.tool_call_id in self._open:
            return False
        self._outbox.put(
            start_tool_call(call.tool_call_id, call.title or "", kind=call.kind, status="pending")
        )
        return True

    def settle(self, call: ToolCallUpdate, *, is_allowed: bool) -> None:
        """Report how an announced call was answered."""
        self._outbox.put(update_tool_call(call.tool_call_id, status="completed" if is_allowed else "failed"))

    def finished(self, event: events.ToolFinished) -> None:
        # Read it now: the result for the model is stored, and an undo may remove it later.
        record = self._session.report
        self.ended(event, record.call(event.call_id), record.result(event.call_id))

    def ended(self, event: events.ToolFinished, call: ToolCall | None, result: ToolMessage | None) -> None:
        """Report the end of a call, also of a stored one."""
        self._tails.pop(event.call_id, None)
        is_known = event.call_id in self._open
        self._open.discard(event.call_id)
        arguments = arguments_of(call.arguments) if call is not None else None
        output = arguments_of(result.content) if result is not None else None
        self._outbox.put(partial(self._end, event, arguments, output, is_known))

    def _end(self, event: events.ToolFinished, arguments: Any, output: Any, is_known: bool) -> Update:
        directory = self._session.directory
        status: ToolCallStatus = "completed" if event.outcome is Outcome.OK else "failed"
        content = content_of(event.display, directory, is_done=event.outcome is Outcome.OK)
        places = locations_of(arguments, directory)
        if isinstance(event.display, DiffBlock) and event.display.path:
            places = [location(Path(event.display.path), directory, _first_line(event.display.diff))]
        build = update_tool_call if is_known else partial(start_tool_call, kind=self._kind(event.tool))
        return build(
            event.call_id,
            title=title_of(event.tool, event.summary),
            status=status,
            content=content,
            locations=places,
            raw_input=arguments if not is_known else None,
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
        call = self._session.report.call(call_id)
        return None if call is None else arguments_of(call.arguments)

    def _kind(self, tool: str) -> ToolKind:
        try:
            return kind_of(self._session.report.registry.get(tool).kind)
        except ToolError:
            return "other"


def _first_line(diff: str) -> int | None:
    """Return the first changed line of the new file."""
    _, mark, rest = diff.partition("\n@@ -")
    _, _, new = rest.partition(" +")
    number = new.partition(" ")[0].partition(",")[0]
    return max(1, int(number)) if mark and number.isdecimal() else None


def _child_line(agent: str, event: ChildEvent) -> str:
    match event:
        case events.SubagentStarted():
            return f"… {agent}: {first_line(event.objective)}"
        case events.ToolFinished():
            return f"{agent}: {event.tool} {event.summary}, {event.outcome}"
        case events.SubagentFinished():
            return f"{agent}, {event.state}: {first_line(event.summary)}"
        case _:
            return ""
