"""The `batch` tool: several calls in one, each decided separately."""

from typing import Any

from pydantic import Field

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TableBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.ports import InnerCall, InnerResult, InnerRunner

FEWEST, MOST = 2, 25
OUTSIDE = ("batch", "task", "fork", "task_finish", "question", "plan_exit")
"""These start agents, end the work or wait for the user, so each needs its own call."""


class BatchedCall(Params):
    tool: str
    args: dict[str, Any] = Field(default_factory=dict)


class BatchParams(Params):
    calls: list[BatchedCall] = Field(min_length=FEWEST, max_length=MOST)


class BatchTool(Tool[BatchParams]):
    """It touches nothing itself; its calls declare what they touch."""

    name = "batch"
    kind = ToolKind.OTHER
    display_name = "Batch"
    params = BatchParams
    permission = "batch"

    def __init__(self, inner: InnerRunner) -> None:
        self._inner = inner

    def variables(self) -> dict[str, object]:
        return {"fewest": FEWEST, "most": MOST, "outside": ", ".join(OUTSIDE)}

    def summary(self, params: BatchParams) -> str:
        names = dict.fromkeys(call.tool for call in params.calls)
        return f"{len(params.calls)} calls: {', '.join(names)}"

    async def access(self, params: BatchParams, ctx: ToolContext) -> Access | None:
        problems = [
            f"calls.{place}.tool: {name} cannot be part of a batch"
            for place, call in enumerate(params.calls)
            if (name := self._inner.canonical(_inner(call))) in OUTSIDE
        ]
        if problems:
            raise ToolError(
                ErrorType.INVALID_TOOL_PARAMS,
                "invalid args: " + "\n".join(problems),
                "Nothing was run. Make this call separately.",
            )
        return None

    async def run(self, params: BatchParams, ctx: ToolContext) -> ToolResult:
        results = await self._inner.run(tuple(map(_inner, params.calls)), ctx)
        fields = {
            "ok": all(result.result.get("ok") is not False for result in results),
            "results": [result.result for result in results],
        }
        return ToolResult(fields, _shown(results))


def _inner(call: BatchedCall) -> InnerCall:
    return InnerCall(call.tool, call.args)


def _shown(results: tuple[InnerResult, ...]) -> TableBlock:
    rows = tuple((result.tool, result.summary, str(result.outcome)) for result in results)
    return TableBlock(("tool", "what", "outcome"), rows)
