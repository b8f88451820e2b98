"""Record which files the calls and commands of a session change, by turn, so that they can be undone."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from coder_tui.storage.manifest import Change
from coder_tui.tasks import finish_despite_cancel
from coder_tui.workspace.undo.changed_files import ChangedFile, ExportedFiles
from coder_tui.workspace.undo.command_snapshots import CommandSnapshots
from coder_tui.workspace.undo.restore import Revert
from coder_tui.workspace.undo.snapshots import Restored, SnapshotStore
from coder_tui.workspace.undo.tree_copies import Baseline


class CommandTracker(Protocol):
    """Finds out which files commands change."""

    def track(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        """Track a command that runs in the block; after it, the list has the files that it changed."""

    async def uncovered(self, turn: int) -> str:
        """Describe what an undo of this turn and later ones does not restore; empty if no command ran."""

    unseen: int
    """How many commands ran that may have changed files of the project unseen."""


class UntrackedCommands:
    """For sessions in which commands are not undone (undo.commands is off)."""

    def __init__(self) -> None:
        self.unseen = 0

    def track(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        self.unseen += 1
        return nullcontext([])

    async def uncovered(self, turn: int) -> str:
        return "Undo does not cover what commands did (undo.commands is off)."


@dataclass(eq=False, slots=True)
class CommandChangeTracker:
    """Commands that run at the same time count as one: what each of them changed cannot be separated."""

    snapshots: CommandSnapshots
    session_id: str
    turn: Callable[[], int]
    is_git_guarded: bool = field(kw_only=True)
    _door: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _running: int = field(default=0, init=False)
    _before: tuple[Baseline, int] | None = field(default=None, init=False)
    unseen: int = field(default=0, init=False)

    @asynccontextmanager
    async def track(self, call_id: str, *, touches_git: bool) -> AsyncIterator[list[Path]]:
        changed: list[Path] = []
        inside: list[bool] = []
        try:
            # Not cut off, or it would look as if the program had been killed while the command ran.
            await finish_despite_cancel(
                self._enter(inside, trusts_git=self.is_git_guarded and not touches_git)
            )
            yield changed
        finally:
            if inside:
                changed += await finish_despite_cancel(self._leave(call_id))

    async def uncovered(self, turn: int) -> str:
        return await self.snapshots.uncovered(self.session_id, turn)

    async def _enter(self, inside: list[bool], *, trusts_git: bool) -> None:
        async with self._door:
            if self._running == 0:
                before = await self.snapshots.before(trusts_git=trusts_git)
                self._before = before, await self.snapshots.begin(self.session_id, self.turn(), before)
                self.unseen += not before.survey.is_whole
            elif self._before is not None and not trusts_git:
                await self.snapshots.secure(self._before[0])
            self._running += 1
            inside.append(True)

    async def _leave(self, call_id: str) -> tuple[Path, ...]:
        async with self._door:
            self._running -= 1
            if self._running or self._before is None:
                return ()
            before, number = self._before
            self._before = None
            changes = await self.snapshots.end(self.session_id, self.turn(), call_id, number, before)
            return tuple(change.path for change in changes)


REVIEW = "review"
"""The call id of changes that the user makes in a review."""


class SessionChanges:
    """The file changes of one session. `turn` returns the running turn; undone files go to `undone`."""

    def __init__(
        self,
        snapshots: SnapshotStore,
        session_id: str,
        turn: Callable[[], int],
        undone: Path,
        commands: CommandTracker | None = None,
    ) -> None:
        self._snapshots = snapshots
        self.commands = commands or UntrackedCommands()
        self._session_id = session_id
        self._turn = turn
        self._undone = undone / session_id

    async def files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
        """Return what the session did to each file, from a turn on."""
        return await self._snapshots.changed(self._session_id, since_turn)

    async def has_effect(self, turn: int) -> bool:
        """Return whether a turn, or a later one, did anything that can be undone."""
        return await self._snapshots.has_effect(self._session_id, turn)

    async def touched(self, turn: int) -> tuple[Change, ...]:
        """Return the newest change of each file that differs from before a turn."""
        return await self._snapshots.touched(self._session_id, turn)

    async def restore(self, turn: int) -> Restored:
        """Restore files as they were before a turn."""
        return await self._snapshots.restore(self._session_id, turn)

    async def redo(self, turn: int) -> Restored:
        """Redo the changes of one undone turn."""
        return await self._snapshots.redo(self._session_id, turn, last=turn)

    async def export_undone(self, turn: int, root: Path) -> ExportedFiles:
        """Write what undo removed from a turn on, and may be the user's own, to a folder for them to see."""
        return await self._snapshots.export_undone(self._session_id, turn, root, self._undone)

    async def revert(self, reverts: tuple[Revert, ...]) -> None:
        """Revert changes, all or none. It counts as a change of the newest turn, and is undone with it."""
        async with self.keeping(REVIEW, tuple(revert.path for revert in reverts)):
            await self._snapshots.revert(reverts)

    @asynccontextmanager
    async def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AsyncIterator[None]:
        """Copy `paths` before the block may change them, and record in any case how it left them."""
        if not paths:
            yield
            return
        kept = await finish_despite_cancel(
            self._snapshots.before_change(self._session_id, self._turn(), call_id, paths)
        )
        try:
            yield
        finally:
            await finish_despite_cancel(self._snapshots.after_change(self._session_id, kept))
