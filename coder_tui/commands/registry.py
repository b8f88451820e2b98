"""Finds the command that a line means, and the ones that a beginning may become."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rapidfuzz import process

from coder_tui.commands.base import Command

# A path such as `/usr/bin` at the beginning of a message is no command.
_LINE = re.compile(r"/([A-Za-z][\w-]*(?::[\w-]+)*)(?:\s+(.*))?", re.DOTALL)
_NEAR = 60


@dataclass(frozen=True, slots=True)
class Called:
    command: Command
    argument: str


@dataclass(frozen=True, slots=True)
class Unknown:
    name: str
    nearest: tuple[str, ...]

    @property
    def sentence(self) -> str:
        hint = f" Did you mean {' or '.join(f'/{name}' for name in self.nearest)}?" if self.nearest else ""
        return f"There is no command /{self.name}.{hint}"


class Commands:
    """Commands by name, in the order of the menu."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._commands: dict[str, Command] = {}
        for command in commands:
            if command.name in self._commands:
                raise ValueError(f"a command named {command.name!r} is registered already")
            self._commands[command.name] = command

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def read(self, text: str) -> Called | Unknown | None:
        """What the text calls; None for an ordinary message."""
        match = _LINE.fullmatch(text.strip())
        if match is None:
            return None
        name, argument = match[1].lower(), (match[2] or "").strip()
        command = self._commands.get(name)
        return Unknown(match[1], self._nearest(name)) if command is None else Called(command, argument)

    def _nearest(self, name: str) -> tuple[str, ...]:
        found = process.extract(name, list(self._commands), limit=2, score_cutoff=_NEAR)
        return tuple(near for near, _, _ in found)
