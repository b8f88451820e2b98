"""What a word may become: files of the folder, commands, earlier messages."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.text.fuzzy import FuzzyIndex
from coder_tui.text.mentions import mention
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.prompt.completion_list import Candidate

if TYPE_CHECKING:
    from coder_tui.commands.base import Command
    from coder_tui.workspace.search.file_index import FileIndex


MOST = 50
_LABEL = 200


class FileSource:
    """Files below the folder that `directory` tells; a session may bring another one."""

    def __init__(
        self, directory: Callable[[], Path], resources: Callable[[], tuple[str, ...]] = tuple
    ) -> None:
        self._directory = directory
        self._resources = resources
        self._index: FileIndex | None = None
        self._of: Path | None = None

    async def paths(self, query: str, most: int) -> tuple[str, ...]:
        """The likeliest first."""
        return tuple(each.path for each in await (await self._files()).suggest(query, most))

    async def candidates(self, query: str) -> tuple[Candidate, ...]:
        found = await (await self._files()).suggest(query, MOST)
        files = tuple(
            Candidate(mention(each.path), each.path, each.positions, is_final=not each.path.endswith("/"))
            for each in found
        )
        return (*files, *self._of_servers(query))

    def _of_servers(self, query: str) -> tuple[Candidate, ...]:
        """Resources of servers, once something is typed that tells them from files."""
        names = self._resources()
        if not names or not query:
            return ()
        index = FuzzyIndex([safe_line(name) for name in names])
        return tuple(
            Candidate(mention(names[match.index]), index.texts[match.index], match.positions, source="mcp")
            for match in index.search(query, MOST)
        )

    def use(self, path: str) -> None:
        """The person chose this one of what was offered."""
        if self._index is not None:
            self._index.use(path)

    async def close(self) -> None:
        if self._index is not None:
            await self._index.close()

    async def _files(self) -> "FileIndex":
        from coder_tui.workspace.search.file_index import FileIndex
        from coder_tui.workspace.search.search import Search, search_program

        directory = self._directory()
        if self._index is None or self._of != directory:
            await self.close()
            self._index, self._of = FileIndex(directory, Search(search_program())), directory
        return self._index


class CommandSource:
    def __init__(self, commands: "Callable[[], Iterable[Command]]") -> None:
        self._commands = commands

    def candidates(self, query: str) -> tuple[Candidate, ...]:
        commands = {command.name: command for command in self._commands()}
        index = FuzzyIndex(tuple(commands))
        found = ((commands[index.texts[match.index]], match) for match in index.search(query, MOST))
        return tuple(
            Candidate(
                text=f"/{command.name}",
                label=f"/{command.name} {command.argument}".rstrip(),
                positions=tuple(at + 1 for at in match.positions),
                detail=command.summary,
                source=str(command.source),
                is_from_others=command.source.is_from_others,
                # One that wants words behind it cannot run yet.
                is_final=not command.argument or command.argument.startswith("["),
            )
            for command, match in found
        )


class HistorySource:
    """What was sent before, newest first."""

    def __init__(self, entries: Callable[[], tuple[str, ...]]) -> None:
        self._entries = entries

    def candidates(self, query: str) -> tuple[Candidate, ...]:
        entries = tuple(reversed(self._entries()))
        index = FuzzyIndex([entry[:_LABEL].replace("\n", " ") for entry in entries])
        found = index.search(query, MOST)
        # Newest first among those that hold the words as they are: the age tells more than the place.
        whole = [match for match in found if _is_run(match.positions)]
        rest = [match for match in found if not _is_run(match.positions)]
        ordered = sorted(whole, key=lambda match: match.index) + rest
        return tuple(
            Candidate(entries[match.index], index.texts[match.index], match.positions) for match in ordered
        )


def _is_run(positions: tuple[int, ...]) -> bool:
    return not positions or positions[-1] - positions[0] == len(positions) - 1
