"""Keeps what commands change, though nobody knows before they run what that will be."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Protocol

from coder_tui.agent.to_the_end import to_the_end
from coder_tui.workspace.command_snapshots import CommandSnapshots, covered_words
from coder_tui.workspace.tree_copies import Baseline


class Watch(Protocol):
    def over(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        """Around a command; what it changed is in the list when the block has ended."""

    @property
    def uncovered(self) -> str:
        """What an undo would not bring back, as far as it was seen."""


class NoWatch:
    """Where commands are not to be undone."""

    uncovered = "Undo does not cover what commands did (undo.commands is off)."

    def over(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        return nullcontext([])


class CommandWatch:
    """Commands that run at the same time count as one: nobody could tell what each of them did."""

    def __init__(
        self,
        snapshots: CommandSnapshots,
        session_id: str,
        turn: Callable[[], int],
        root: Path,
        *,
        is_git_guarded: bool,
    ) -> None:
        self._snapshots = snapshots
        self._session_id = session_id
        self._turn = turn
        self._root = root
        self._is_git_guarded = is_git_guarded
        self._door = asyncio.Lock()
        self._running = 0
        self._before: Baseline | None = None
        self.uncovered = ""

    @asynccontextmanager
    async def over(self, call_id: str, *, touches_git: bool) -> AsyncIterator[list[Path]]:
        changed: list[Path] = []
        await self._enter(trusts_git=self._is_git_guarded and not touches_git)
        try:
            yield changed
        finally:
            changed += await to_the_end(self._leave(call_id))

    async def _enter(self, *, trusts_git: bool) -> None:
        async with self._door:
            if self._running == 0:
                self._before = await self._snapshots.before(trusts_git=trusts_git)
                self.uncovered = covered_words(self._before, self._root)
            elif self._before is not None and not trusts_git:
                await self._snapshots.secure(self._before)
            self._running += 1

    async def _leave(self, call_id: str) -> tuple[Path, ...]:
        async with self._door:
            self._running -= 1
            before = self._before
            if self._running or before is None:
                return ()
            self._before = None
            changes = await self._snapshots.after(self._session_id, self._turn(), call_id, before)
            return tuple(change.path for change in changes)
