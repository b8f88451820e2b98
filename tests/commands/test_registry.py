"""A line is a command, nearly one, or none."""

import pytest

from coder_tui.commands.base import Called, Commands, Unknown
from coder_tui.commands.builtin import builtin_commands

COMMANDS = Commands(builtin_commands())


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/help", "help", ""),
        ("  /Rename  a new title \n", "rename", "a new title"),
        ("/export md out.md", "export", "md out.md"),
    ],
)
def test_a_command_is_read_with_its_argument(text: str, name: str, argument: str) -> None:
    called = COMMANDS.read(text)
    assert isinstance(called, Called)
    assert (called.command.name, called.argument) == (name, argument)


@pytest.mark.parametrize("text", ["help", "/usr/bin/env is missing", "/ tmp", "a /help", "/", "//x", "/1"])
def test_an_ordinary_message_is_none(text: str) -> None:
    assert COMMANDS.read(text) is None


def test_a_mistyped_command_names_the_nearest() -> None:
    found = COMMANDS.read("/sesions")
    assert isinstance(found, Unknown)
    assert found.nearest[0] == "sessions"
    assert found.sentence.startswith("There is no command /sesions. Did you mean /sessions")


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="'help'"):
        Commands([*builtin_commands(), *builtin_commands()])
