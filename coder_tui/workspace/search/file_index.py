"""The files of a folder by name, for completion: listed in the background, refreshed when asked."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import ToolError
from coder_tui.text.fuzzy import FuzzyIndex, Match
from coder_tui.workspace.search.search import Scope, Search

log = logging.getLogger(__name__)
MOST_FILES = 200_000
_FRESH_SECONDS = 10.0
_ORDER_OF_USE = 50
_MOST_RECENT = 3


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A file or folder below the root, and which of its characters were typed."""

    path: str
    positions: tuple[int, ...]


class FileIndex:
    """Answers from the list that it has; an old list is refreshed in the background."""

    def __init__(self, root: Path, search: Search, clock: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._search = search
        self._clock = clock
        self._index = FuzzyIndex(())
        self._made_at = float("-inf")
        self._making: asyncio.Task[None] | None = None
        self._used: dict[str, None] = {}
        self._is_closed = threading.Event()

    async def suggest(self, query: str, most: int) -> list[Suggestion]:
        """Return the most likely paths for `query`; recently used ones come first among equals."""
        if self._clock() - self._made_at > _FRESH_SECONDS:
            self._renew()
        if not self._index.texts:
            await self.wait_until_listed()
        index = self._index
        found = await asyncio.to_thread(index.search, query, most)
        recent = self._recent(query, most)
        known = {suggestion.path for suggestion in recent}
        suggestions = (Suggestion(index.texts[match.index], match.positions) for match in found)
        return (recent + [suggestion for suggestion in suggestions if suggestion.path not in known])[:most]

    def use(self, path: str) -> None:
        """Record that the user chose this path."""
        self._used.pop(path, None)
        self._used[path] = None
        while len(self._used) > _ORDER_OF_USE:
            del self._used[next(iter(self._used))]

    async def wait_until_listed(self) -> None:
        """Wait for the list that is being made, if any."""
        if self._making is not None:
            await asyncio.shield(self._making)

    async def close(self) -> None:
        self._is_closed.set()
        if self._making is not None:
            await asyncio.wait({self._making})

    def _recent(self, query: str, most: int) -> list[Suggestion]:
        """Return recently used paths; if something was typed, the few that contain it literally."""
        index = FuzzyIndex(tuple(reversed(self._used)))
        found = [match for match in index.search(query, most) if _is_one_run(match)]
        kept = found[:_MOST_RECENT] if query else found
        return [Suggestion(index.texts[match.index], match.positions) for match in kept]

    def _renew(self) -> None:
        if self._making is None or self._making.done():
            self._making = asyncio.create_task(self._make())

    async def _make(self) -> None:
        try:
            # In its own event loop, because sorting very many paths would block the screen.
            self._index = await asyncio.to_thread(asyncio.run, self._list())
        except (ToolError, _ClosedError) as reason:
            # The previous list, if any, still helps; it is tried again when that gets old.
            log.info("files could not be listed: %s", reason)
        self._made_at = self._clock()

    async def _list(self) -> FuzzyIndex:
        return _indexed((await self._search.files(Scope(self._root), self._goes_on, MOST_FILES)).paths)

    def _goes_on(self, path: str) -> bool:
        if self._is_closed.is_set():
            raise _ClosedError
        return True


class _ClosedError(Exception):
    """Nobody waits for the list any more."""


def _indexed(paths: tuple[str, ...]) -> FuzzyIndex:
    folders = {f"{folder}/" for path in paths for folder in _folders(path)}
    return FuzzyIndex(sorted((*paths, *folders), key=lambda path: (path.count("/"), path)))


def _is_one_run(match: Match) -> bool:
    positions = match.positions
    return not positions or positions[-1] - positions[0] == len(positions) - 1


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
