"""`coder-tui completion`: prints a script that completes commands in a shell.

What can be typed at each point of the command line is read from the parsers themselves.
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
from coder_tui.cli.arguments import COMMANDS, Parser, make_parser
from coder_tui.cli.main import module_of
from coder_tui.cli.output import redactor
from coder_tui.config.paths import find_directories
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.storage.store import Store
from coder_tui.text.safe_text import safe_line

SHELLS = ("bash", "zsh", "fish")
_LISTED = 50


def completion_parser() -> Parser:
    parser = make_parser(
        "completion",
        "Print a script that completes coder-tui commands in your shell. "
        "bash: source <(coder-tui completion bash); zsh: source <(coder-tui completion zsh), after compinit; "
        "fish: coder-tui completion fish | source.",
    )
    parser.add_argument("shell", nargs="?", choices=SHELLS, help="the shell to print the script for")
    parser.add_argument("--sessions", action="store_true", help=argparse.SUPPRESS)
    return parser


def main(argv: list[str]) -> int:
    arguments = completion_parser().parse_args(argv)
    if arguments.sessions:
        sys.stdout.write(asyncio.run(_sessions()))
    elif not arguments.shell:
        raise UsageError("no shell given; use 'coder-tui completion bash', 'zsh' or 'fish'")
    else:
        sys.stdout.write(_script(arguments.shell))
    return 0


def _script(shell: str) -> str:
    # Reading all parsers imports all commands. Listing sessions, at each press of Tab, must not.
    from coder_tui.cli.completion_scripts import bash_script, fish_script, zsh_script

    return {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}[shell](completion_points())


async def _sessions() -> str:
    """List sessions, those of this folder first. Returns "" if there is no store."""
    directories = find_directories(os.environ)
    if not directories.database.exists():
        return ""
    try:
        store = await Store.open(directories.database, redactor())
    except StorageError:
        return ""  # an error in the middle of a command line helps nobody
    try:
        here = str(Path.cwd().resolve())
        infos = sorted(await store.sessions.list(None, _LISTED), key=lambda info: info.directory != here)
    finally:
        await store.close()
    return "".join(f"{info.id}\t{safe_line(redactor()(info.title))}\n" for info in infos)


class Source(StrEnum):
    """Where the candidates for a value come from."""

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
    """`value` is None for a flag that takes none."""

    names: tuple[str, ...]
    help: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class CompletionPoint:
    """What can be typed after `name`: nothing, a command, or a command and its action."""

    name: str
    commands: tuple[tuple[str, str], ...]
    flags: tuple[Flag, ...]
    values: tuple[Value, ...]
    """The positional arguments in order. The last one also applies to all further ones."""


_BY_METAVAR = {
    "FILE": Source.FILES,
    "PATH": Source.FOLDERS,
    "DIR": Source.FOLDERS,
    "ID": Source.SESSIONS,
}


def completion_points() -> tuple[CompletionPoint, ...]:
    """Return all points of the command line, the program itself first."""
    first = _point("", arguments.session_parser(), tuple(COMMANDS.items()))
    return (first, *(place for name in COMMANDS for place in _points(name, parser_of(name))))


def parser_of(command: str) -> Parser:
    """Find the parser of a command, in `arguments` or in the command's own module."""
    name = f"{command}_parser"
    home = arguments if hasattr(arguments, name) else import_module(module_of(command))
    return cast(Callable[[], Parser], getattr(home, name))()


def _points(name: str, parser: Parser) -> Iterator[CompletionPoint]:
    actions = parser.sub_parsers()
    yield _point(name, parser, tuple((action, text) for action, (_, text) in actions.items()))
    for action, (child, _) in actions.items():
        yield from _points(f"{name} {action}", child)


def _point(name: str, parser: Parser, commands: tuple[tuple[str, str], ...]) -> CompletionPoint:
    flags = tuple(_flag(action) for action in parser.flags() if action.help != argparse.SUPPRESS)
    return CompletionPoint(name, commands, flags, tuple(map(_value, parser.positionals())))


def _flag(action: argparse.Action) -> Flag:
    takes = None if action.nargs == 0 else _value(action)
    return Flag(tuple(action.option_strings), (action.help or "").partition(";")[0], takes)


def _value(action: argparse.Action) -> Value:
    if action.choices:
        return Value(Source.WORDS, tuple(map(str, action.choices)))
    return Value(_BY_METAVAR.get(str(action.metavar), Source.NOWHERE))
