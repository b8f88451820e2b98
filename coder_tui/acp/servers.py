"""The MCP servers that an editor names for a session, as our settings would name them."""

from collections.abc import Iterable
from typing import assert_never

from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

McpServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio


def settings_of(servers: Iterable[McpServer]) -> dict[str, dict[str, object]]:
    """Those that speak through the editor itself are left out: `unknown` names them."""
    return {server.name: entry for server in servers if (entry := _entry(server)) is not None}


def unknown(servers: Iterable[McpServer]) -> list[str]:
    return [server.name for server in servers if _entry(server) is None]


def _entry(server: McpServer) -> dict[str, object] | None:
    match server:
        case McpServerStdio():
            variables = {each.name: each.value for each in server.env}
            return {"command": server.command, "args": list(server.args), "env": variables}
        case HttpMcpServer() | SseMcpServer():
            headers = {each.name: each.value for each in server.headers}
            return {"url": server.url, "transport": server.type, "headers": headers}
        case AcpMcpServer():
            return None
        case _:
            assert_never(server)
