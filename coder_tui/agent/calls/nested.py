"""Calls within a call: each goes the way of any call, but its result belongs to the call around it."""

import json
from dataclasses import dataclass

from coder_tui.agent.calls.runner import ToolRunner
from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.events import DiagnosticsChanged, Event, FilesChanged, ToolFinished
from coder_tui.protocol.messages import ToolCall
from coder_tui.tasks import run_in_order
from coder_tui.tools.arguments import canonical_call
from coder_tui.tools.base import ToolContext
from coder_tui.tools.ports import InnerCall, InnerResult


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
        quiet, finished = EventBus(), dict[str, ToolFinished]()

        def hear(event: Event) -> None:
            """The user sees the outer call; that files changed is news wherever it came from."""
            if isinstance(event, ToolFinished):
                finished[event.call_id] = event
            elif isinstance(event, FilesChanged | DiagnosticsChanged):
                self.bus.publish(event)

        quiet.subscribe(hear)
        inner = self.runner.within(quiet)
        written = [
            ToolCall(f"{ctx.call_id}.{place}", call.tool, json.dumps(call.args))
            for place, call in enumerate(calls)
        ]

        async def run(call: ToolCall) -> InnerResult:
            rest = written[written.index(call) + 1 :]
            follow = any(map(inner.is_edit, rest))
            message = await inner.execute(call, ctx.message_id, edits_follow=follow)
            ended = finished[call.id]
            ctx.progress(f"{ended.outcome}  {ended.tool}  {ended.summary}\n")
            return InnerResult(ended.tool, ended.outcome, ended.summary, json.loads(message.content))

        return tuple(await run_in_order(written, inner.is_concurrent, run))
