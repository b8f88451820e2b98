"""Which check the person chose for a folder; one that looks right is named to them once."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from coder_tui.protocol.outcomes import NoticeLevel

SUGGESTED = (
    "This project looks as if `{command}` checks it. /verify on runs that after every turn that changed "
    "something, and lets the agent mend what fails; /verify on COMMAND names another."
)


class ChoiceStore(Protocol):
    async def verify_choice(self, directory: str) -> str | None:
        """None where the person was never told; empty where they chose none."""

    async def choose_verify(self, directory: str, command: str) -> None: ...


class VerifyChoices:
    def __init__(
        self,
        directory: Path,
        store: ChoiceStore,
        notify: Callable[[NoticeLevel, str], None],
        look: Callable[[Path], str],
    ) -> None:
        self._directory = directory
        self._store = store
        self._notify = notify
        self._look = look

    async def command(self) -> str:
        return await self._store.verify_choice(str(self._directory)) or ""

    async def choose(self, command: str) -> None:
        await self._store.choose_verify(str(self._directory), command)

    async def looks_like(self) -> str:
        return await asyncio.to_thread(self._look, self._directory)

    async def suggest(self) -> None:
        """Once a folder, whatever comes of it."""
        if await self._store.verify_choice(str(self._directory)) is not None:
            return
        if command := await self.looks_like():
            await self.choose("")
            self._notify(NoticeLevel.INFO, SUGGESTED.format(command=command))
