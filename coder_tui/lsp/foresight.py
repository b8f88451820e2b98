"""Shows servers what is about to be written, so that they think while the disk is still busy."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from coder_tui.lsp.examine import Examiner, Unreadable
from coder_tui.lsp.wire import Checked


@dataclass(slots=True)
class _Expected:
    text: str
    looking: asyncio.Task[dict[str, Checked]]


class Foresight:
    """One text a file: the last that was announced."""

    def __init__(self, files: Examiner) -> None:
        self._files = files
        self._expected: dict[Path, _Expected] = {}

    async def expect(self, path: Path, text: str) -> None:
        """Whoever says so says later that it was written, or `drop`s it."""
        if (earlier := self._expected.get(path)) is not None:
            earlier.looking.cancel()
        self._expected[path] = _Expected(text, asyncio.ensure_future(self._look(path, text)))
        # On its way before the caller turns to the disk, whose thread would delay it.
        await asyncio.sleep(0)

    def text_for(self, path: Path) -> str | None:
        """What is about to be written there, where somebody said so."""
        expected = self._expected.get(path)
        return expected.text if expected else None

    async def take(self, path: Path, text: str | Unreadable | None) -> dict[str, Checked]:
        """What servers said of this very text, or how far they are; empty where they were not asked."""
        expected = self._expected.pop(path, None)
        if expected is None:
            return {}
        if expected.text != text:
            expected.looking.cancel()
            await asyncio.wait({expected.looking})
            return {}
        return await expected.looking

    async def drop(self, path: Path) -> None:
        """It was not written: servers get back what is on disk."""
        expected = self._expected.pop(path, None)
        if expected is None:
            return
        expected.looking.cancel()
        await asyncio.wait({expected.looking})
        text = await self._files.load(path)
        async with self._files.lock(path):
            await self._files.restore(path, await self._files.select(path, expected.text), text)

    def close(self) -> None:
        for expected in self._expected.values():
            expected.looking.cancel()

    async def _look(self, path: Path, text: str) -> dict[str, Checked]:
        selection = await self._files.select(path, text)
        if not selection.orders:
            return {}
        async with self._files.lock(path):
            return await self._files.check(self._files.state(path), text, selection, is_proposed=True)
