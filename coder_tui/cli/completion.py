"""`coder-tui completion`: prints the script that lets a shell complete this program's command line."""

import asyncio
import os
import sys
from pathlib import Path

from coder_tui.cli.arguments import completion_parser
from coder_tui.cli.output import redactor
from coder_tui.config.paths import find_directories
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.storage.sessions import Store
from coder_tui.text.safe_text import safe_line

_LISTED = 50


def main(argv: list[str]) -> int:
    arguments = completion_parser().parse_args(argv)
    if arguments.sessions:
        sys.stdout.write(asyncio.run(_sessions()))
    elif not arguments.shell:
        raise UsageError("name the shell: coder-tui completion bash, zsh or fish")
    else:
        sys.stdout.write(_script(arguments.shell))
    return 0


def _script(shell: str) -> str:
    # Reading all parsers imports the commands; asking for sessions, at each press of Tab, must not.
    from coder_tui.cli.completion_scripts import bash_script, fish_script, zsh_script
    from coder_tui.cli.completion_tree import places

    return {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[shell](places())


async def _sessions() -> str:
    """This folder's newest first, then those of others; nothing where there is no store."""
    directories = find_directories(os.environ)
    if not directories.database.exists():
        return ""
    try:
        store = await Store.open(directories.database, redactor())
    except StorageError:
        return ""  # who presses Tab wants no error in the middle of a line
    try:
        here = str(Path.cwd().resolve())
        infos = sorted(await store.list_sessions(None, _LISTED), key=lambda info: info.directory != here)
    finally:
        await store.close()
    return "".join(f"{info.id}\t{safe_line(redactor()(info.title))}\n" for info in infos)
