"""MCP servers that are only shown: they stand as a test says, and note what is asked of them."""

from pathlib import Path

from coder_tui.agent.calls.permissions import Notify
from coder_tui.agent.mcp_session import PATIENCE, SessionMcp
from coder_tui.mcp.approved import Approved
from coder_tui.mcp.pool import KnownServer, McpPool, ServerView
from coder_tui.mcp.wire import (
    Offer,
    PromptArgument,
    PromptInfo,
    ResourceInfo,
    ServerOrder,
    ServerState,
    ToolInfo,
    Transport,
)
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.hosts.side import HostOptions, SandboxSpec
from coder_tui.text.redact import BY_SHAPE
from coder_tui.tools.ports import NoInnerCalls
from coder_tui.tools.registry import Registry
from tests.fakes.mcp_pools import SCHEMA, found

WEATHER = PromptInfo("weather", "Asks for the weather", (PromptArgument("city", is_required=True),))
OFFER = Offer(
    tools=(
        ToolInfo("echo", "Says it \x1b[31magain.\nAnd more.", SCHEMA),
        ToolInfo("[b]sum[/b]", "Adds.", SCHEMA),
    ),
    prompts=(WEATHER,),
    resources=(ResourceInfo("demo://notes/1.md", "notes"),),
    label="everything 2.0",
    protocol="2025-11-25",
    problems=("tools: bad was left out: it has no input schema",),
)


def view(name: str, state: ServerState, detail: str = "", *, url: str = "", link: str = "") -> ServerView:
    server = found(name, url=url) if url else found(name, command="npx", args=("-y", name))
    order = ServerOrder(name, Transport.HTTP if url else Transport.STDIO, server.section.argv, url=url)
    offer = OFFER if state is ServerState.READY else Offer()
    return ServerView(KnownServer(server, order), state, detail, offer, link=link)


class ShownServers(McpPool):
    def __init__(self) -> None:
        sandbox = SandboxSpec("none", "", "off", (), (), "", "")
        super().__init__((), HostOptions(sandbox, {}, Path(), BY_SHAPE))
        self.asked: list[str] = []

    def show(self, *views: ServerView) -> None:
        for each in views:
            self._put(each)

    async def restart(self, name: str, *, logs_in: bool = False) -> None:
        self.asked.append(f"{'log in' if logs_in else 'restart'} {name}")

    async def stop(self, name: str) -> None:
        self.asked.append(f"stop {name}")


def tell_nobody(level: NoticeLevel, text: str) -> None:
    """For tests in which nobody reads notices."""


def shown_servers(
    *views: ServerView, patience: float = PATIENCE, notify: Notify = tell_nobody
) -> tuple[SessionMcp, ShownServers]:
    pool, approved = ShownServers(), Approved(Path("/nowhere/approved.json"))
    mcp = SessionMcp(pool, Registry(), approved, NoInnerCalls(), notify, patience=patience)
    pool.show(*views)
    return mcp, pool
