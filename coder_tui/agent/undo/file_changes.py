"""Keeps what a session's calls change, each under the turn it belongs to.

Keeps what commands change, though nobody knows before they run what that will be.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Protocol

from coder_tui.storage.manifest import Change
from coder_tui.tasks import to_the_end
from coder_tui.workspace.undo.changed_files import BroughtOut, ChangedFile
from coder_tui.workspace.undo.command_snapshots import CommandSnapshots
from coder_tui.workspace.undo.restore import Revert
from coder_tui.workspace.undo.snapshots import Restored, SnapshotStore
from coder_tui.workspace.undo.tree_copies import Baseline


class Watch(Protocol):
    def over(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        """Around a command; what it changed is in the list when the block has ended."""

    async def uncovered(self, turn: int) -> str:
        """What an undo of a turn and later ones does not bring back; empty where no command ran."""

    @property
    def unseen(self) -> int:
        """How many commands ran that may have changed files of the project unseen."""


class NoWatch:
    """Where commands are not to be undone."""

    def __init__(self) -> None:
        self.unseen = 0

    def over(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        self.unseen += 1
        return nullcontext([])

    async def uncovered(self, turn: int) -> str:
        return "Undo does not cover what commands did (undo.commands is off)."


class CommandWatch:
    """Commands that run at the same time count as one: nobody could tell what each of them did."""

    def __init__(
        self,
        snapshots: CommandSnapshots,
        session_id: str,
        turn: Callable[[], int],
        *,
        is_git_guarded: bool,
    ) -> None:
        self._snapshots = snapshots
        self._session_id = session_id
        self._turn = turn
        self._is_git_guarded = is_git_guarded
        self._door = asyncio.Lock()
        self._running = 0
        self._before: tuple[Baseline, int] | None = None
        self.unseen = 0

    @asynccontextmanager
    async def over(self, call_id: str, *, touches_git: bool) -> AsyncIterator[list[Path]]:
        changed: list[Path] = []
        inside: list[bool] = []
        try:
            # Whole, or it would look as if the program had been killed meanwhile.
            await to_the_end(self._enter(inside, trusts_git=self._is_git_guarded and not touches_git))
            yield changed
        finally:
            if inside:
                changed += await to_the_end(self._leave(call_id))

    async def uncovered(self, turn: int) -> str:
        return await self._snapshots.uncovered(self._session_id, turn)

    async def _enter(self, inside: list[bool], *, trusts_git: bool) -> None:
        async with self._door:
            if self._running == 0:
                before = await self._snapshots.before(trusts_git=trusts_git)
                self._before = before, await self._snapshots.begin(self._session_id, self._turn(), before)
                self.unseen += not before.survey.is_whole
            elif self._before is not None and not trusts_git:
                await self._snapshots.secure(self._before[0])
            self._running += 1
            inside.append(True)

    async def _leave(self, call_id: str) -> tuple[Path, ...]:
        async with self._door:
            self._running -= 1
            if self._running or self._before is None:
                return ()
            before, number = self._before
            self._before = None
            changes = await self._snapshots.end(self._session_id, self._turn(), call_id, number, before)
            return tuple(change.path for change in changes)


REVIEW = "review"
"""Stands for the call where the person is the one who changes files."""


class SessionChanges:
    """`turn` tells the number of the running turn; `undone` is the folder for what was taken back."""

    def __init__(
        self,
        snapshots: SnapshotStore,
        session_id: str,
        turn: Callable[[], int],
        undone: Path,
        watch: Watch | None = None,
    ) -> None:
        self._snapshots = snapshots
        self.watch = watch or NoWatch()
        self._session_id = session_id
        self._turn = turn
        self._undone = undone / session_id

    async def files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
        """What the session did to each file, from a turn on."""
        return await self._snapshots.changed(self._session_id, since_turn)

    async def has_effect(self, turn: int) -> bool:
        """Whether a turn, or a later one, did anything that could be taken back."""
        return await self._snapshots.has_effect(self._session_id, turn)

    async def touched(self, turn: int) -> tuple[Change, ...]:
        """The newest change of whatever the session left otherwise than it was before a turn."""
        return await self._snapshots.touched(self._session_id, turn)

    async def restore(self, turn: int) -> Restored:
        """Bring back how files were before a turn."""
        return await self._snapshots.restore(self._session_id, turn)

    async def redo(self, turn: int) -> Restored:
        """Make the changes of one undone turn again."""
        return await self._snapshots.redo(self._session_id, turn, last=turn)

    async def bring_out(self, turn: int, root: Path) -> BroughtOut:
        """Write what was taken back from a turn on, and may have been the person's, for the person to see."""
        return await self._snapshots.bring_out(self._session_id, turn, root, self._undone)

    async def revert(self, reverts: tuple[Revert, ...]) -> None:
        """Take changes back, all or none; it counts as a change of the newest turn, and is undone with it."""
        async with self.keeping(REVIEW, tuple(revert.path for revert in reverts)):
            await self._snapshots.revert(reverts)

    @asynccontextmanager
    async def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AsyncIterator[None]:
        """Copies are kept before the block may change `paths`; how they are after it is noted in any case."""
        if not paths:
            yield
            return
        kept = await to_the_end(self._snapshots.before_change(self._session_id, self._turn(), call_id, paths))
        try:
            yield
        finally:
            await to_the_end(self._snapshots.after_change(self._session_id, kept))
