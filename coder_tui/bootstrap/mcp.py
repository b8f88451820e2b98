"""Build the MCP servers of a session: find them, confine them, load their tools."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.agent.calls.permissions import Notify
from coder_tui.agent.mcp_session import LONG_PATIENCE, PATIENCE, SessionMcp
from coder_tui.bootstrap.language_servers import sandbox_order
from coder_tui.bootstrap.setup import Setup, roots_of
from coder_tui.config.mcp_files import FoundServer, FoundServers, claude_servers, project_servers
from coder_tui.config.paths import display_path
from coder_tui.config.sections import McpServerSection
from coder_tui.config.trust import Trust
from coder_tui.mcp.approved import Approved
from coder_tui.mcp.pool import KnownServer, McpPool
from coder_tui.mcp.servers import McpContext, choose_servers, known, waiting
from coder_tui.shell.environment import clean_environment, is_secret_name
from coder_tui.shell.hosts.side import HostOptions, SandboxSpec
from coder_tui.shell.sandbox.sandbox import home_folder
from coder_tui.tools.ports import InnerRunner, NoInnerCalls
from coder_tui.tools.registry import Registry

LOG = "mcp.log"
APPROVED = "mcp-approved.json"
TOKENS = "mcp-logins"
UNTRUSTED = (
    "this folder has settings or extensions that you have not trusted; "
    "'coder-tui trust' shows what they would do and asks"
)


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of a session; `notices` are for the user, a sentence each."""

    known: tuple[KnownServer, ...] = ()
    notices: tuple[str, ...] = ()


def find_servers(setup: Setup) -> Servers:
    """Find the servers of the user and of the trusted project. Blocks: reads files, starts nothing."""
    if setup.is_scratch:
        return Servers()
    found, notices = choose_servers(_places(setup), setup.settings.mcp)
    around = McpContext(roots_of(setup), os.environ, setup.directories.data / TOKENS)
    is_trusted = Trust.load(setup.directories).inventory(setup.directory).is_trusted
    servers = tuple(known(server, around) for server in found)
    if not is_trusted:
        # Also the user's own: in this folder they might run files from it.
        servers = tuple(waiting(server, UNTRUSTED) for server in servers)
    return Servers(servers, notices)


def _places(setup: Setup) -> Iterator[FoundServers]:
    """Yield servers by place, the weakest first: of two with one name the later is used."""
    trust, workspace = Trust.load(setup.directories), setup.directory
    home = Path(os.environ["HOME"]) if os.environ.get("HOME") else home_folder()
    yield claude_servers(home, workspace)
    file = setup.sources.file
    place = file.label if file else display_path(setup.directories.config)
    yield FoundServers(tuple(_whole(setup.settings.mcp, place, is_own=True)))
    yield from project_servers(workspace, lambda part: trust.trusts(workspace, part))
    project = setup.sources.project
    if project is not None and project.is_trusted and isinstance(project.servers, dict):
        table = {name: McpServerSection.model_validate(entry) for name, entry in project.servers.items()}
        yield FoundServers(tuple(_whole(table, project.name, is_own=False)))


def _whole(table: dict[str, McpServerSection], place: str, *, is_own: bool) -> Iterator[FoundServer]:
    for name, section in table.items():
        if section.is_whole:
            yield FoundServer(name, section, place, is_own)


def build_servers(setup: Setup, servers: Servers) -> McpPool:
    """Build the pool of servers; nothing runs before it is started."""
    for server in servers.known:
        _learn_secrets(setup, server)
    environment = clean_environment(os.environ)
    options = HostOptions(_sandbox(setup, servers), environment, setup.directories.log / LOG, setup.redact)
    return McpPool(servers.known, options)


def _learn_secrets(setup: Setup, server: KnownServer) -> None:
    """Mask the secrets that a server is given in everything that it sends."""
    if server.order is not None:
        given = {**server.order.environment, **server.order.headers}
        for name, value in given.items():
            if is_secret_name(name) or name.lower() == "authorization":
                setup.redact.learn(value.removeprefix("Bearer "))


async def build_mcp(
    setup: Setup, registry: Registry, inner: InnerRunner, notify: Notify, *, waits: bool = False
) -> SessionMcp:
    """Find the servers of a session; nothing is started yet. `waits`: what comes late would be of no use."""
    servers = await asyncio.to_thread(find_servers, setup)
    approved = await asyncio.to_thread(Approved, setup.directories.data / APPROVED)
    pool = build_servers(setup, servers)
    patience = LONG_PATIENCE if waits or setup.is_for_one_prompt else PATIENCE
    return SessionMcp(pool, registry, approved, inner, notify, servers.notices, patience)


async def load_servers(setup: Setup, registry: Registry, notify: Notify) -> None:
    """Load tools of servers to list them: the servers have ended when this returns."""
    mcp = await build_mcp(setup, registry, NoInnerCalls(), notify, waits=True)
    mcp.start()
    try:
        await mcp.prepare()
    finally:
        await mcp.close()


def _sandbox(setup: Setup, servers: Servers) -> SandboxSpec:
    words = (word for server in servers.known if server.order for word in server.order.argv)
    return sandbox_order(setup, setup.directories.cache / "mcp", words)
