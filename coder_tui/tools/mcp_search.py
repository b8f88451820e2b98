"""`mcp_search`: where servers bring too many tools to tell a model of each, it looks for what it needs."""

import re
from collections.abc import Callable
from typing import Any

from pydantic import Field
from rapidfuzz import fuzz

from coder_tui.mcp.names import PREFIX
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TableBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.descriptions import description_of
from coder_tui.tools.ports import InnerCall, InnerRunner
from coder_tui.tools.registry import AnyTool

MOST_FOUND = 8
_WORD = re.compile(r"[a-z0-9]+")
_NEAR = 70.0


class McpSearchParams(Params):
    query: str = ""
    tool: str = ""
    args: dict[str, Any] = Field(default_factory=dict)


class McpSearchTool(Tool[McpSearchParams]):
    """`found` hears which tools were told of; a call inside of it is decided by itself, as any other."""

    name = "mcp_search"
    # Not one that only looks: what it calls must not run beside other calls.
    kind = ToolKind.THINK
    display_name = "Search MCP tools"
    params = McpSearchParams
    permission = "mcp_search"

    def __init__(
        self,
        tools: Callable[[], tuple[AnyTool, ...]],
        inner: InnerRunner,
        found: Callable[[tuple[str, ...]], None],
    ) -> None:
        self._tools = tools
        self._inner = inner
        self._found = found

    def variables(self) -> dict[str, object]:
        servers = dict.fromkeys(tool.name.split("__")[1] for tool in self._tools())
        return {"count": len(self._tools()), "servers": ", ".join(servers), "most": MOST_FOUND}

    def summary(self, params: McpSearchParams) -> str:
        return f"call {params.tool}" if params.tool else params.query

    async def access(self, params: McpSearchParams, ctx: ToolContext) -> Access | None:
        if bool(params.tool) == bool(params.query):
            raise _invalid("give either query, or tool and args")
        if params.tool and not params.tool.startswith(PREFIX):
            raise _invalid(f"tool: only tools of MCP servers are called so, their names begin with {PREFIX}")
        return None

    async def run(self, params: McpSearchParams, ctx: ToolContext) -> ToolResult:
        if params.tool:
            (result,) = await self._inner.run((InnerCall(params.tool, params.args),), ctx)
            row = (result.tool, result.summary, str(result.outcome))
            return ToolResult(result.result, TableBlock(("tool", "what", "outcome"), (row,)))
        nearest = _nearest(params.query, self._tools())
        self._found(tuple(tool.name for tool in nearest))
        told = {"ok": True, "tools": [_told(tool) for tool in nearest], "of": len(self._tools())}
        rows = tuple((tool.name, description_of(tool).split("\n")[0]) for tool in nearest)
        return ToolResult(told, TableBlock(("tool", "what it says of itself"), rows))


def _told(tool: AnyTool) -> JsonObject:
    return {
        "tool": tool.name,
        "description": description_of(tool),
        "parameters": tool.params.model_json_schema(),
    }


def _nearest(query: str, tools: tuple[AnyTool, ...]) -> tuple[AnyTool, ...]:
    """By how many of the words a tool's name and description hold; a name counts more."""
    words = set(_WORD.findall(query.lower()))
    scored = [(_score(words, tool), place, tool) for place, tool in enumerate(tools)]
    ranked = sorted((each for each in scored if each[0] > 0), key=lambda each: (-each[0], each[1]))
    return tuple(tool for _, _, tool in ranked[:MOST_FOUND])


def _score(words: set[str], tool: AnyTool) -> float:
    name = " ".join(_WORD.findall(tool.name.lower()))
    text = description_of(tool).lower()
    score = 0.0
    for word in words:
        near = fuzz.partial_ratio(word, name)
        score += 2 * near / 100 if near >= _NEAR else 0
        score += 1 if word in text else 0
    return score


def _invalid(problem: str) -> ToolError:
    return ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {problem}", "Nothing was called.")
