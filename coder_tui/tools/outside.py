"""Stands in for what only a session has: tools are listed and judged without one, too."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import ToolContext
from coder_tui.tools.ports import InnerCall, InnerResult, SubResult, SubTask


@dataclass(frozen=True, slots=True)
class NoSubagents:
    """Knows the agents, and has no model to run them with."""

    agents: Mapping[str, str]

    def is_elsewhere(self, model: str) -> bool:
        """Without a session every model is."""
        return bool(model)

    async def run(self, call_id: str, tasks: tuple[SubTask, ...]) -> tuple[SubResult, ...]:
        _refuse("sub-agents")


class NoFinisher:
    def finish(self, summary: str, *, ok: bool) -> None:
        _refuse("task_finish")


class NoInnerCalls:
    def canonical(self, call: InnerCall) -> str:
        return call.tool

    async def run(self, calls: tuple[InnerCall, ...], ctx: ToolContext) -> tuple[InnerResult, ...]:
        _refuse("batch")


def _refuse(what: str) -> NoReturn:
    raise ToolError(ErrorType.EXECUTION_FAILED, f"{what}: there is no session here to run them in")
