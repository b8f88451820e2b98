"""`coder-tui completion`: prints the script that lets a shell complete this program's command line.

What can be typed at each place of the command line, read off the parsers themselves.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import cast

from coder_tui.cli import arguments
from coder_tui.cli.arguments import COMMANDS, Parser, completion_parser
from coder_tui.cli.main import COMMAND_MODULES
from coder_tui.cli.output import redactor
from coder_tui.config.paths import find_directories
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.storage.store import Store
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


class Source(StrEnum):
    """Where the words for a value come from."""

    NOWHERE = "nowhere"
    WORDS = "words"
    FILES = "files"
    FOLDERS = "folders"
    SESSIONS = "sessions"


@dataclass(frozen=True, slots=True)
class Value:
    source: Source
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flag:
    """`value` is None for a flag that stands alone."""

    names: tuple[str, ...]
    help: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class Place:
    """`name` is what stands before: nothing, a command, or a command and its action."""

    name: str
    commands: tuple[tuple[str, str], ...]
    flags: tuple[Flag, ...]
    values: tuple[Value, ...]
    """Of the words that are no flags, in their order; the last holds for all further ones."""


_BY_METAVAR = {
    "FILE": Source.FILES,
    "PATH": Source.FOLDERS,
    "DIR": Source.FOLDERS,
    "ID": Source.SESSIONS,
}


def places() -> tuple[Place, ...]:
    """All of them, the program itself first."""
    first = _place("", arguments.session_parser(), tuple(COMMANDS.items()))
    return (first, *(place for name in COMMANDS for place in _places(name, parser_of(name))))


def parser_of(command: str) -> Parser:
    """Named for its command; beside the others, or in the command's own module."""
    name = f"{command}_parser"
    home = arguments if hasattr(arguments, name) else import_module(COMMAND_MODULES[command])
    return cast(Callable[[], Parser], getattr(home, name))()


def _places(name: str, parser: Parser) -> Iterator[Place]:
    actions = parser.sub_parsers()
    yield _place(name, parser, tuple((action, told) for action, (_, told) in actions.items()))
    for action, (child, _) in actions.items():
        yield from _places(f"{name} {action}", child)


def _place(name: str, parser: Parser, commands: tuple[tuple[str, str], ...]) -> Place:
    flags = tuple(_flag(action) for action in parser.flags() if action.help != argparse.SUPPRESS)
    return Place(name, commands, flags, tuple(map(_value, parser.words())))


def _flag(action: argparse.Action) -> Flag:
    takes = None if action.nargs == 0 else _value(action)
    return Flag(tuple(action.option_strings), _first_clause(action.help), takes)


def _value(action: argparse.Action) -> Value:
    if action.choices:
        return Value(Source.WORDS, tuple(map(str, action.choices)))
    return Value(_BY_METAVAR.get(str(action.metavar), Source.NOWHERE))


def _first_clause(text: str | None) -> str:
    return (text or "").partition(";")[0]
