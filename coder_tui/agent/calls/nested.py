"""Calls within a call: each goes the way of any call, but its result belongs to the call around it."""

import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from coder_tui.agent.calls.log import CallLog, FinishedCall
from coder_tui.agent.calls.runner import ToolRunner
from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.events import DiagnosticsChanged, Event, FilesChanged
from coder_tui.protocol.messages import ToolCall
from coder_tui.tasks import side_by_side
from coder_tui.tools.arguments import canonical_call
from coder_tui.tools.base import ToolContext
from coder_tui.tools.ports import InnerCall, InnerResult


class _InnerLog:
    """Calls are kept as any other; the conversation gets the outer result only."""

    def __init__(self, outer: CallLog) -> None:
        self._outer = outer
        self.ended: dict[str, FinishedCall] = {}

    async def started(self, call: ToolCall, message_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        await self._outer.started(call, message_id, tool, kind, summary)

    async def finished(self, call: FinishedCall) -> None:
        await self._outer.finished_within(call)
        self.ended[call.call_id] = call

    async def finished_within(self, call: FinishedCall) -> None:
        await self.finished(call)

    def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AbstractAsyncContextManager[None]:
        return self._outer.keeping(call_id, paths)

    def watching(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        return self._outer.watching(call_id, touches_git=touches_git)


@dataclass(frozen=True, slots=True)
class InnerCalls:
    """The `InnerRunner` of one agent's runner."""

    runner: ToolRunner
    bus: EventBus

    def canonical(self, call: InnerCall) -> str:
        try:
            name, _ = canonical_call(call.tool, json.dumps(call.args))
            return self.runner.tool_of(name).name
        except ToolError:
            return call.tool

    async def run(self, calls: tuple[InnerCall, ...], ctx: ToolContext) -> tuple[InnerResult, ...]:
        log, quiet = _InnerLog(self.runner.calls), EventBus()
        quiet.subscribe(self._hear)
        inner = self.runner.within(log, quiet)
        written = [
            ToolCall(f"{ctx.call_id}.{place}", call.tool, json.dumps(call.args))
            for place, call in enumerate(calls)
        ]

        async def run(call: ToolCall) -> InnerResult:
            rest = written[written.index(call) + 1 :]
            follow = any(map(inner.is_edit, rest))
            message = await inner.execute(call, ctx.message_id, edits_follow=follow)
            ended = log.ended[call.id]
            ctx.progress(f"{ended.outcome}  {ended.tool}  {ended.summary}\n")
            return InnerResult(ended.tool, ended.outcome, ended.summary, json.loads(message.content))

        return tuple(await side_by_side(written, inner.is_concurrent, run))

    def _hear(self, event: Event) -> None:
        """Who watches sees the outer call; that files changed is news wherever it came from."""
        if isinstance(event, FilesChanged | DiagnosticsChanged):
            self.bus.publish(event)
