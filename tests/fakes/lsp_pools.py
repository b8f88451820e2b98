"""Language servers around a folder, as a session has them."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from coder_tui.lsp.find_server import Places
from coder_tui.lsp.pool import LspPool
from coder_tui.lsp.selection import LspContext
from coder_tui.lsp.servers import KNOWN, Catalog, ServerSpec
from coder_tui.protocol.events import DiagnosticsChanged, ServerStatusChanged
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.hosts.side import HostOptions, SandboxSpec
from coder_tui.shell.sandbox.sandbox import SandboxStatus
from coder_tui.text.redact import BY_SHAPE
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.shells import UNCONFINED, folders_in

PoolEvent = DiagnosticsChanged | ServerStatusChanged
FAKE = Path(__file__).with_name("lsp_server.py")
NODE_SERVERS = Path.home() / ".cache" / "coder-tui-tests" / "servers" / "node_modules" / ".bin"
ENVIRONMENT = Path(sys.executable).parent


def hear_nothing(event: PoolEvent) -> None:
    """For tests that look at results only."""


def server_path() -> str:
    """Where the tests find real servers: the development environment, a folder of their own, the system."""
    return os.pathsep.join((str(ENVIRONMENT), str(NODE_SERVERS), os.environ.get("PATH", "")))


def only(*names: str) -> Catalog:
    """Of the known servers these alone."""
    return Catalog(tuple(spec for spec in KNOWN if spec.name in names))


def fake_server(behaviour: str = "", name: str = "fake", *arguments: str) -> ServerSpec:
    """A scripted server for Python files; see `lsp_server.py`."""
    command = (sys.executable, str(FAKE), behaviour, *arguments)
    return ServerSpec(name, "py", command, install="nobody installs this", is_default=True)


def faked(behaviour: str = "", *arguments: str) -> Catalog:
    return Catalog((fake_server(behaviour, "fake", *arguments),))


def sandbox_order(root: Path, status: SandboxStatus) -> SandboxSpec:
    base = Path(os.path.realpath(root)).parent
    folders = folders_in(base)
    return SandboxSpec(
        kind=status.kind,
        program=status.program,
        setting="auto",
        own=tuple(map(str, folders.own)),
        readable=(os.path.realpath(root), str(FAKE.parent)),
        cache=str(base / "cache" / "lsp"),
        home=str(Path.home()),
    )


def pool_in(
    root: Path,
    catalog: Catalog | None = None,
    publish: Callable[[PoolEvent], None] = hear_nothing,
    *,
    status: SandboxStatus = UNCONFINED,
    distrust: Callable[[], str] = str,
    path: str | None = None,
    uses_project_programs: bool = False,
) -> LspPool:
    """Create a pool. The caller closes it."""
    workspace = Workspace(root)
    found = server_path() if path is None else path
    environment = {**clean_environment(os.environ), "PATH": found}
    base = workspace.root.parent

    def places() -> Places:
        return Places(workspace.root, base / "data" / "lsp", found, uses_project_programs)

    surroundings = LspContext((workspace.root,), catalog or Catalog(), places, distrust, status, environment)
    options = HostOptions(
        sandbox_order(root, status), clean_environment(os.environ), base / "log" / "lsp.log", BY_SHAPE
    )
    return LspPool(workspace, surroundings, options, publish)
