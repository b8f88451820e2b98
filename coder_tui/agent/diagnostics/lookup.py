"""What a person asks language servers: what a name in a change is, where it comes from, how they all are."""

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
from coder_tui.tools.builtin.lsp_places import shown_place, unanswered
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import load

CHANGED = "The file is not as it was when this was compared."
_FALLBACK = "search for it"


@dataclass(frozen=True, slots=True)
class NamePlace:
    """A name as it stands in a file; `line` and `character` count from 0."""

    name: str
    line: int
    character: int
    text: str = ""
    """The line that it stands in."""


@dataclass(frozen=True, slots=True)
class FoundPlace:
    """As people count: from 1."""

    path: str
    line: int
    character: int


class Lookup(Protocol):
    """Each answers with a sentence where there is nothing to tell."""

    async def hover(self, path: str, place: NamePlace) -> str: ...
    async def definition(self, path: str, place: NamePlace) -> FoundPlace | str: ...

    async def servers(self) -> tuple[ServerLine, ...]:
        """Every server that is known here."""

    async def restart(self, name: str) -> bool:
        """False where none of that name was started."""

    async def warm(self) -> None:
        """Let the servers of the workspace's languages start, without waiting for them."""


class NoLookup:
    """Where there are no language servers."""

    async def hover(self, path: str, place: NamePlace) -> str:
        return "There is no language server."

    async def definition(self, path: str, place: NamePlace) -> FoundPlace | str:
        return await self.hover(path, place)

    async def servers(self) -> tuple[ServerLine, ...]:
        return ()

    async def restart(self, name: str) -> bool:
        return False

    async def warm(self) -> None:
        return


class Servers(Protocol):
    async def ask(
        self, question: Question, path: Path, text: str, *, line: int = 0, character: int = 0
    ) -> Answered: ...

    async def servers(self) -> tuple[ServerLine, ...]: ...
    async def restart(self, name: str) -> bool: ...
    def warm(self, paths: Iterable[Path]) -> None: ...


class CodeLookup:
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
        return await self._servers.servers()

    async def restart(self, name: str) -> bool:
        return await self._servers.restart(name)

    async def warm(self) -> None:
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
