"""The MCP servers of a session: which there are, how they are confined, and what they bring."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.agent.calls.nested import InnerCalls
from coder_tui.agent.calls.permissions import Notify
from coder_tui.agent.mcp_session import LONG_PATIENCE, PATIENCE, McpDesk
from coder_tui.bootstrap.language_servers import sandbox_order
from coder_tui.bootstrap.setup import Setup, roots_of
from coder_tui.bootstrap.toolset import Workbench
from coder_tui.config.mcp_files import FoundServer, FoundServers, claude_servers, project_servers
from coder_tui.config.paths import display_path
from coder_tui.config.sections import McpServerSection
from coder_tui.config.trust import Trust
from coder_tui.mcp.approved import Approved
from coder_tui.mcp.pool import Known, McpPool
from coder_tui.mcp.servers import Surroundings, chosen, known, waiting
from coder_tui.shell.environment import clean_environment, is_secret_name
from coder_tui.shell.hosts.options import HostOptions, SandboxOrder
from coder_tui.shell.sandbox.sandbox import home_folder
from coder_tui.tools.ports import NoInnerCalls
from coder_tui.tools.registry import Registry

LOG = "mcp.log"
APPROVED = "mcp-approved.json"
TOKENS = "mcp-logins"
UNTRUSTED = (
    "this folder brings things along that nobody has trusted yet; "
    "'coder-tui trust' shows what they would do, and asks"
)


@dataclass(frozen=True, slots=True)
class Servers:
    """`notices` are for the person, a sentence each."""

    known: tuple[Known, ...] = ()
    notices: tuple[str, ...] = ()


def find_servers(setup: Setup) -> Servers:
    """All that the person and the trusted project have. Blocks: reads files, starts nothing."""
    if setup.is_scratch:
        return Servers()
    found, notices = chosen(_places(setup), setup.settings.mcp)
    around = Surroundings(roots_of(setup), os.environ, setup.directories.data / TOKENS)
    is_trusted = Trust.load(setup.directories).inventory(setup.directory).is_trusted
    servers = tuple(known(server, around) for server in found)
    if not is_trusted:
        # Also the person's own: started in this folder they might run what lies in it.
        servers = tuple(waiting(server, UNTRUSTED) for server in servers)
    return Servers(servers, notices)


def _places(setup: Setup) -> Iterator[FoundServers]:
    """Weakest first: of two that share a name the nearer is used."""
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
    """Nothing runs before it is told to start."""
    for server in servers.known:
        _learn_secrets(setup, server)
    environment = clean_environment(os.environ)
    options = HostOptions(_sandbox(setup, servers), environment, setup.directories.log / LOG, setup.redact)
    return McpPool(servers.known, options)


def _learn_secrets(setup: Setup, server: Known) -> None:
    """What a server is given must not be shown by whatever it says."""
    if server.order is not None:
        given = {**server.order.environment, **server.order.headers}
        for name, value in given.items():
            if is_secret_name(name) or name.lower() == "authorization":
                setup.redact.learn(value.removeprefix("Bearer "))


async def open_desk(setup: Setup, bench: Workbench) -> McpDesk:
    """Nothing is started yet."""
    servers = await asyncio.to_thread(find_servers, setup)
    approved = await asyncio.to_thread(Approved, setup.directories.data / APPROVED)
    inner = InnerCalls(bench.runner, bench.bus)
    pool = build_servers(setup, servers)
    patience = LONG_PATIENCE if setup.is_for_one_prompt else PATIENCE
    return McpDesk(pool, bench.registry, approved, inner, servers.notices, patience)


async def load_servers(setup: Setup, registry: Registry, notify: Notify) -> None:
    """Only to look at: the servers have ended when this returns, and their tools are not to be called."""
    servers = await asyncio.to_thread(find_servers, setup)
    approved = await asyncio.to_thread(Approved, setup.directories.data / APPROVED)
    pool = build_servers(setup, servers)
    desk = McpDesk(pool, registry, approved, NoInnerCalls(), servers.notices, LONG_PATIENCE)
    desk.start(notify)
    try:
        await desk.prepare()
    finally:
        await desk.close()


def _sandbox(setup: Setup, servers: Servers) -> SandboxOrder:
    words = (word for server in servers.known if server.order for word in server.order.argv)
    return sandbox_order(setup, setup.directories.cache / "mcp", words)
