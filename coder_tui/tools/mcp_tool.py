"""A tool of an MCP server: called under its own name, asked about, and its answer taken for what it is."""

import asyncio
import json

from coder_tui.mcp.approved import Approved, fingerprint
from coder_tui.mcp.names import tool_prefix
from coder_tui.mcp.pool import McpPool, ServerView
from coder_tui.mcp.wire import Answer, Failure, ToolInfo
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.tools.base import Access, Tool, ToolContext, ToolResult
from coder_tui.tools.foreign import ForeignParams, fitting_name, foreign_params
from coder_tui.tools.mcp_result import result_of

LONGEST_DESCRIPTION = 2_000
_LONGEST_SUMMARY = 200
CHANGED_MEANWHILE = "what it says of this tool changed while the call was decided on; nothing was called."
CALL_AGAIN = "Call it again: the person is asked about it as it is now."


class McpTool(Tool[ForeignParams]):
    """Raises `SchemaError` where its schema is none."""

    kind = ToolKind.OTHER

    def __init__(self, pool: McpPool, server: ServerView, info: ToolInfo, approved: Approved) -> None:
        self._pool = pool
        self._found = server.known.found
        self._server = server.name
        self._info = info
        self._approved = approved
        self.name = self.permission = fitting_name(tool_prefix(server.name), info.name)
        self.display_name = safe_line(f"{server.name}: {info.title or info.name}")
        self.params = foreign_params(info.schema)
        words = safe_text(info.description[:LONGEST_DESCRIPTION]).strip()
        self.described = f"{words}\n(A tool of the MCP server {safe_line(server.name)}.)".strip()

    def summary(self, params: ForeignParams) -> str:
        return safe_line(json.dumps(params.arguments, ensure_ascii=False))[:_LONGEST_SUMMARY]

    async def access(self, params: ForeignParams, ctx: ToolContext) -> Access:
        told = await asyncio.to_thread(self._changed)
        claims = ", ".join(self._now().claims)
        arguments = json.dumps(params.arguments, indent=2, ensure_ascii=False)
        preview = f"server  {self._server}\ntool    {self._info.name}\n\n{arguments}"
        facts = (
            told,
            f"of the MCP server {safe_line(self._server)}, which {safe_line(self._found.place)} brings",
            f"claimed by server, not checked: {claims}" if claims else "",
        )
        return Access(
            (),
            TextBlock(preview),
            fingerprint=fingerprint(self._now()),
            facts=tuple(filter(None, facts)),
            asks_again=told,
        )

    async def run(self, params: ForeignParams, ctx: ToolContext) -> ToolResult:
        # It was let run as it was then, by a person or by their rules.
        now = fingerprint(self._now())
        if ctx.access is not None and ctx.access.fingerprint != now:
            raise ToolError(
                ErrorType.MCP_ERROR, f"MCP server {self._server}: {CHANGED_MEANWHILE}", CALL_AGAIN
            )
        config = self._found.fingerprint
        await asyncio.to_thread(self._approved.note, self._server, config, self.name, now)
        seconds = self._found.section.timeout_sec
        answer = await self._pool.call(self._server, self._info.name, params.arguments, seconds, ctx.progress)
        if answer.failure is not None:
            raise self._failure(answer)
        # Megabytes may have come, with pictures among them.
        is_confined = self._found.section.is_confined
        return await asyncio.to_thread(result_of, answer, self._server, ctx, is_confined=is_confined)

    def _now(self) -> ToolInfo:
        """As the server tells it at this moment; it may have changed since the model was told."""
        view = self._pool.view(self._server)
        offered = view.offer.tools if view else ()
        return next((tool for tool in offered if tool.name == self._info.name), self._info)

    def _changed(self) -> str:
        return self._approved.changed(
            self._server, self._found.fingerprint, self.name, fingerprint(self._now())
        )

    def _failure(self, answer: Answer) -> ToolError:
        kind = ErrorType.TIMEOUT if answer.failure is Failure.TIMEOUT else ErrorType.MCP_ERROR
        hint = {
            Failure.TIMEOUT: "It may still be at work there. The person can set timeout_sec for this server.",
            Failure.GONE: "It is started anew by itself; try once more, then do without it.",
        }.get(answer.failure or Failure.REFUSED, "")
        return ToolError(kind, f"MCP server {self._server}: {answer.detail}", hint)
