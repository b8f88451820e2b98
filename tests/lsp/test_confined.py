"""A language server sees the workspace and writes its caches: nothing else, and no secret."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from coder_tui.bootstrap.language_servers import build_pool, missing_servers
from coder_tui.bootstrap.prepare import load_setup
from coder_tui.bootstrap.setup import Setup
from coder_tui.config.paths import find_directories
from coder_tui.config.sources import find_sources
from coder_tui.config.trust import Trust
from coder_tui.lsp.servers import Catalog, ServerSpec
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_pools import FAKE, PoolEvent, hear_nothing, pool_in
from tests.fakes.shells import BUBBLEWRAP

needs_bubblewrap = pytest.mark.needs("bubblewrap")
# Tries what a server must not do, reports the outcome as a finding, then acts as the fake server.
SPY = """
import json, os, runpy, socket, sys
from pathlib import Path

def attempt(work):
    try:
        work()
    except OSError as error:
        return type(error).__name__
    return "done"

root = Path.cwd()
reported = {
    "workspace": attempt(lambda: (root / "made").write_text("x")),
    "git": attempt(lambda: (root / ".git" / "config").write_text("x")),
    "home": attempt(lambda: (Path.home() / "made-by-a-server").write_text("x")),
    "cache": attempt(lambda: Path(os.environ["XDG_CACHE_HOME"]).mkdir(exist_ok=True)),
    "temporary": attempt(lambda: Path("/tmp/made").write_text("x")),
    "network": attempt(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[2])), 2)),
    "secrets": sorted(name for name in os.environ if "TOKEN" in name),
    "own": sorted(path.name for path in Path(sys.argv[3]).glob("*")),
    "source": (root / "a.py").read_text(),
}
sys.stderr.write(json.dumps(reported) + "\\n")
sys.exit(9)
"""


@needs_bubblewrap
async def test_a_server_cannot_write_connect_or_read_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "hush")
    root, data = tmp_path / "w", tmp_path / "data"
    (root / ".git").mkdir(parents=True)
    data.mkdir()
    (data / "sessions.db").touch()
    (root / "a.py").write_text("bad\n")
    (root / "spy.py").write_text(SPY)
    listening = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    command = (sys.executable, str(root / "spy.py"), "", str(port), str(data))
    pool = pool_in(root, Catalog((ServerSpec("spy", "py", command, is_default=True),)), status=BUBBLEWRAP)
    try:
        found = await pool.diagnostics(root / "a.py", "bad\n")
    finally:
        await pool.close()
        listening.close()
    assert found.status is ServerStatus.CRASHED
    reported = json.loads(found.detail.partition("Its last output: ")[2])
    assert reported.pop("network") != "done"
    assert reported == {
        "workspace": "OSError",
        "git": "OSError",
        "home": "OSError",
        "cache": "done",
        "temporary": "done",
        "secrets": [],
        "own": [],
        "source": "bad\n",
    }
    assert sorted(path.name for path in root.iterdir()) == [".git", "a.py", "spy.py"]


def environment(home: Path) -> dict[str, str]:
    return {f"CODER_TUI_{name}_DIR": str(home / name.lower()) for name in ("DATA", "CONFIG", "CACHE")}


def setup_in(home: Path, project: Path) -> Setup:
    """Default settings and servers."""
    environ = environment(home)
    directories = find_directories(environ)
    return load_setup(project, directories, find_sources(directories, project, environ, {}, None), environ)


def project_with(tmp_path: Path, settings: str) -> Path:
    project = tmp_path / "project"
    (project / ".coder-tui").mkdir(parents=True)
    (project / ".coder-tui" / "config.toml").write_text(settings)
    (project / "a.py").write_text("bad\n")
    return project


async def test_a_projects_own_server_starts_only_after_trust(tmp_path: Path) -> None:
    command = json.dumps([sys.executable, str(FAKE), ""])
    only_this = f'[lsp."*"]\nenabled = false\n[lsp.py]\nenabled = true\ncommand = {command}\n'
    project = project_with(tmp_path, only_this)
    reported: list[PoolEvent] = []
    before = build_pool(setup_in(tmp_path, project), reported.append)
    found = await before.diagnostics(project / "a.py", "bad\n")
    await before.close()
    assert found.status is ServerStatus.UNTRUSTED
    assert "'coder-tui trust' shows what they would do, and asks" in found.detail
    assert reported == []
    trust_all(tmp_path, project)
    after = build_pool(setup_in(tmp_path, project), hear_nothing)
    try:
        found = await after.diagnostics(project / "a.py", "bad\n")
    finally:
        await after.close()
    assert (found.status, [item.message for item in found.items]) == (ServerStatus.FRESH, ["bad word"])


def trust_all(home: Path, project: Path) -> None:
    trust = Trust.load(find_directories(environment(home)))
    trust.accept(trust.inventory(project))


def test_missing_servers_are_reported_at_start_as_specified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    setup = setup_in(tmp_path, tmp_path / "project")
    assert missing_servers(setup) == (
        "[LSP] sh: bash-language-server not installed, "
        "run: npm i -g bash-language-server && apt install shellcheck",
        "[LSP] py: pylsp not installed, run: pip install 'python-lsp-server[all]'",
    )
