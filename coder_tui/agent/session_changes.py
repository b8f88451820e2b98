"""Keeps what a session's calls change, each under the turn it belongs to."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from coder_tui.agent.command_watch import NoWatch, Watch
from coder_tui.agent.to_the_end import to_the_end
from coder_tui.storage.manifest import Change
from coder_tui.workspace.changed_files import ChangedFile
from coder_tui.workspace.reverting import Revert
from coder_tui.workspace.snapshots import Restored, SnapshotStore
from coder_tui.workspace.undone_files import BroughtOut

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
