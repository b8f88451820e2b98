"""The files of a folder by name, for completion: listed once behind the screen, renewed when asked."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.text.fuzzy import FuzzyIndex
from coder_tui.workspace.search import Scope, Search

MOST_FILES = 200_000
_FRESH_SECONDS = 10.0
_ORDER_OF_USE = 50


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A file or folder below the root, and which of its characters were typed."""

    path: str
    positions: tuple[int, ...]


class FileIndex:
    """Answers from the list that it has; a list that grew old is made anew behind the answer."""

    def __init__(self, root: Path, search: Search, clock: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._search = search
        self._clock = clock
        self._index = FuzzyIndex(())
        self._made_at = float("-inf")
        self._making: asyncio.Task[None] | None = None
        self._used: dict[str, None] = {}

    async def suggest(self, query: str, most: int) -> list[Suggestion]:
        """The likeliest paths for `query`; what was used of late stands first among the equal."""
        if self._clock() - self._made_at > _FRESH_SECONDS:
            self._renew()
        if not self._index.texts:
            await self.made()
        index = self._index
        found = await asyncio.to_thread(index.search, query, most)
        suggestions = [Suggestion(index.texts[match.index], match.positions) for match in found]
        if query:
            return suggestions
        recent = [Suggestion(path, ()) for path in reversed(self._used)]
        rest = [suggestion for suggestion in suggestions if suggestion.path not in self._used]
        return (recent + rest)[:most]

    def use(self, path: str) -> None:
        """The person chose this path."""
        self._used.pop(path, None)
        self._used[path] = None
        while len(self._used) > _ORDER_OF_USE:
            del self._used[next(iter(self._used))]

    async def made(self) -> None:
        """Wait for the list that is being made, if one is."""
        if self._making is not None:
            await asyncio.shield(self._making)

    async def close(self) -> None:
        if self._making is not None:
            self._making.cancel()
            await asyncio.wait({self._making})

    def _renew(self) -> None:
        if self._making is None or self._making.done():
            self._making = asyncio.create_task(self._make())

    async def _make(self) -> None:
        found = await self._search.files(Scope(self._root), lambda path: True, MOST_FILES)
        known = set(found.paths)
        recent = [path for path in reversed(self._used) if path in known]
        self._index = await asyncio.to_thread(_indexed, found.paths, recent)
        self._made_at = self._clock()


def _indexed(paths: tuple[str, ...], recent: list[str]) -> FuzzyIndex:
    folders = {f"{folder}/" for path in paths for folder in _folders(path)}
    first = dict.fromkeys((*recent, *sorted((*paths, *folders), key=lambda path: (path.count("/"), path))))
    return FuzzyIndex(tuple(first))


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
