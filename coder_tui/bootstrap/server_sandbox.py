"""How servers of a session are confined, be they language servers or others."""

from collections.abc import Iterable
from pathlib import Path

from coder_tui.bootstrap.setup import Setup, roots_of
from coder_tui.shell.sandbox import folders_in_tmp, home_folder
from coder_tui.shell.server_host import SandboxOrder


def sandbox_order(setup: Setup, cache: Path, words: Iterable[str], *readable: Path) -> SandboxOrder:
    """`words` are those of the commands: of the real `/tmp`, servers see only what is named there."""
    return SandboxOrder(
        kind=setup.sandbox.kind,
        program=setup.sandbox.program,
        wish=setup.settings.bash.sandbox,
        own=tuple(map(str, setup.own_folders)),
        readable=(*map(str, (*roots_of(setup), *readable)), *folders_in_tmp(words)),
        cache=str(cache),
        home=str(home_folder()),
    )
