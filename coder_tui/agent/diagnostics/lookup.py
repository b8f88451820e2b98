"""Ask language servers for the user: what a name is, where it is defined, and how the servers are."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coder_tui.lsp.document import line_at, lines_of
from coder_tui.lsp.find_server import first_files
from coder_tui.lsp.pool import ServerLine
from coder_tui.lsp.wire import Answered, Question
from coder_tui.protocol.errors import ToolError
from coder_tui.tools.builtin.lsp import shown_place, unanswered
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import load

CHANGED = "The file has changed since this was compared."
_FALLBACK = "search for it"


@dataclass(frozen=True, slots=True)
class NamePlace:
    """A name in a file; `line` and `character` count from 0."""

    name: str
    line: int
    character: int
    text: str = ""
    """The line that it is in."""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """A place in a file; `line` and `character` count from 1."""

    path: str
    line: int
    character: int


class Servers(Protocol):
    async def ask(
        self, question: Question, path: Path, text: str, *, line: int = 0, character: int = 0
    ) -> Answered: ...

    async def servers(self) -> tuple[ServerLine, ...]: ...
    async def restart(self, name: str) -> bool: ...
    def warm(self, paths: Iterable[Path]) -> None: ...


class CodeLookup:
    """Each answer is a sentence if the servers know nothing."""

    def __init__(self, servers: Servers, workspace: Workspace) -> None:
        self._servers = servers
        self._workspace = workspace

    async def hover(self, path: str, place: NamePlace) -> str:
        answer = await self._ask(Question.HOVER, path, place)
        if isinstance(answer, str):
            return answer
        return answer.contents or self._nothing(answer, path)

    async def definition(self, path: str, place: NamePlace) -> FoundPlace | str:
        answer = await self._ask(Question.DEFINITION, path, place)
        if isinstance(answer, str):
            return answer
        if not answer.places:
            return self._nothing(answer, path)
        first = answer.places[0]
        return FoundPlace(shown_place(first, self._workspace), first.line + 1, first.character + 1)

    async def servers(self) -> tuple[ServerLine, ...]:
        """Return every server that is known here."""
        return await self._servers.servers()

    async def restart(self, name: str) -> bool:
        """Return False if no server of that name was started."""
        return await self._servers.restart(name)

    async def warm(self) -> None:
        """Start the servers of the workspace's languages, without waiting for them."""
        self._servers.warm(await asyncio.to_thread(first_files, self._workspace.root))

    async def _ask(self, question: Question, path: str, place: NamePlace) -> Answered | str:
        located = self._workspace.locate(path)
        try:
            file = await load(located)
        except ToolError as error:
            return error.message
        if not line_at(lines_of(file.shown), place.line).startswith(place.name, place.character):
            return CHANGED
        return await self._servers.ask(
            question, located.path, file.shown, line=place.line, character=place.character
        )

    def _nothing(self, answer: Answered, path: str) -> str:
        return unanswered(answer.status, path, "", _FALLBACK).message + (
            f" {answer.detail}" if answer.detail else ""
        )
