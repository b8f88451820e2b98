"""What can be typed at each place of the command line, read off the parsers themselves."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import cast

from coder_tui.cli import arguments
from coder_tui.cli.arguments import COMMANDS, Parser
from coder_tui.cli.main import COMMAND_MODULES


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
