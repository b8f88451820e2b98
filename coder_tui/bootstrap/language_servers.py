"""Build the language servers of a session, and the sandbox of all of its servers."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from coder_tui.bootstrap.setup import Setup, roots_of, workspace_of
from coder_tui.config.sections import LspTable
from coder_tui.config.sources import origin_of
from coder_tui.config.trust import Trust
from coder_tui.lsp.find_server import Places, find_program
from coder_tui.lsp.pool import LspPool, Publish
from coder_tui.lsp.selection import LspContext
from coder_tui.lsp.servers import Catalog, build_catalog, server_name
from coder_tui.protocol.events import DiagnosticsChanged, ServerStatusChanged
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.hosts.side import HostOptions, SandboxSpec
from coder_tui.shell.sandbox.sandbox import folders_in_tmp, home_folder


def sandbox_order(setup: Setup, cache: Path, words: Iterable[str], *readable: Path) -> SandboxSpec:
    """`words` are those of the commands: of the real `/tmp`, servers see only what is named there."""
    return SandboxSpec(
        kind=setup.sandbox.kind,
        program=setup.sandbox.program,
        setting=setup.settings.bash.sandbox,
        own=tuple(map(str, setup.own_folders)),
        readable=(*map(str, (*roots_of(setup), *readable)), *folders_in_tmp(words)),
        cache=str(cache),
        home=str(home_folder()),
    )


INSTALLED = "lsp"
_LOG = "lsp.log"
_UNTRUSTED = (
    "this folder brings settings along that nobody has trusted yet; "
    "'coder-tui trust' shows what they would do, and asks"
)


def tell_nobody(event: DiagnosticsChanged | ServerStatusChanged) -> None:
    """For tools that are only looked at."""


def build_pool(setup: Setup, publish: Publish) -> LspPool:
    """Nothing is looked for or started before it is needed."""
    surroundings = LspContext(
        roots_of(setup),
        server_catalog(setup),
        lambda: _places(setup),
        lambda: _distrust(setup),
        setup.sandbox,
        os.environ,
    )
    options = HostOptions(
        _sandbox(setup), clean_environment(os.environ), setup.directories.log / _LOG, setup.redact
    )
    return LspPool(workspace_of(setup), surroundings, options, publish)


def server_catalog(setup: Setup) -> Catalog:
    """The servers that are known here. `ConfigError` names the file and line of what is wrong."""
    return build_catalog(_tables(setup), lambda name: origin_of(setup.sources, ("lsp", name)))


def _tables(setup: Setup) -> LspTable:
    """A program of the project's is not handed what the user keeps for theirs of the same name."""
    brought = setup.sources.project_values.get("lsp")
    theirs = {
        server_name(key): table
        for key, table in (brought.items() if isinstance(brought, dict) else ())
        if isinstance(table, dict) and table.get("command")
    }
    return {
        key: section.model_copy(update={"env": table.get("env", {})})
        if (table := theirs.get(server_name(key)))
        else section
        for key, section in setup.settings.lsp.items()
    }


def missing_servers(setup: Setup) -> tuple[str, ...]:
    """One sentence for each server that the user would expect and has not got. Blocks, for a moment only."""
    if setup.is_scratch:
        return ()
    places, roots = _places(setup), roots_of(setup)
    return tuple(
        f"[LSP] {spec.language}: {spec.name} not installed, run: {spec.install_command}"
        for spec in server_catalog(setup).servers
        if spec.is_default and not find_program(spec, roots[0], places)
    )


def installed_folder(setup: Setup) -> Path:
    """Where `coder-tui lsp install` puts servers."""
    return setup.directories.data / INSTALLED


def _places(setup: Setup) -> Places:
    inventory = Trust.load(setup.directories).inventory(setup.directory)
    # A program in the project's folder is the project's: the user must have trusted the project.
    is_agreed = inventory.is_accepted
    path = clean_environment(os.environ).get("PATH", "")
    return Places(roots_of(setup)[0], installed_folder(setup), path, uses_project_programs=is_agreed)


def _distrust(setup: Setup) -> str:
    inventory = Trust.load(setup.directories).inventory(setup.directory)
    return "" if inventory.is_trusted else _UNTRUSTED


def _sandbox(setup: Setup) -> SandboxSpec:
    """Servers read the workspace and write their caches, each project its own, and nothing else."""
    name = hashlib.sha256(b"\0".join(os.fsencode(root) for root in roots_of(setup))).hexdigest()[:16]
    words = (word for section in setup.settings.lsp.values() for word in section.command)
    return sandbox_order(setup, setup.directories.cache / "lsp" / name, words, installed_folder(setup))
