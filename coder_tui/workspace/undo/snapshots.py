"""Store how files were before each change, so that a turn can be undone and redone exactly."""

import contextlib
import errno
import logging
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from coder_tui.protocol.errors import ErrorType, StorageError, ToolError
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.manifest import ABSENT, Change, FileKind, FileState, Manifest
from coder_tui.workspace.files.confine import missing_folders
from coder_tui.workspace.files.save import settled
from coder_tui.workspace.undo.changed_files import ChangedFile, ExportedFiles, changed_files, export_undone
from coder_tui.workspace.undo.restore import ConflictError, Revert, Step, apply_step, revert_all, state_of

log = logging.getLogger(__name__)
NO_COPY = "it changed while a command ran, and no copy of it could be stored"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that was left as it is, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Restored:
    paths: tuple[Path, ...]
    conflicts: tuple[Conflict, ...]
    folders: frozenset[Path] = frozenset()
    """The paths that are, or were, only folders."""
    seen: tuple[Path, ...] = ()
    """The paths whose content is gone although it may be the user's: it changed while a command ran."""


@dataclass(frozen=True, slots=True)
class _PathHistory:
    """All changes of one path to undo or redo, in order."""

    changes: tuple[Change, ...]

    @property
    def path(self) -> Path:
        return self.changes[0].path

    def problem(self) -> str:
        """Return why the changes do not follow from each other; empty if they do."""
        for change, following in zip(self.changes, self.changes[1:], strict=False):
            if change.after is not None and not change.after.is_like(following.before):
                return "somebody else changed it between two of these changes"
        if any(change.after is None for change in self.changes):
            return "the program ended while it was being changed, so the right content is not known"
        return ""

    @property
    def may_be_users(self) -> bool:
        """Return whether the file changed while a command ran, so that the change may be the user's."""
        return self.last.kind is FileKind.FILE and any(change.is_seen for change in self.changes)

    def undo_step(self) -> Step:
        return Step(self.path, self.last, self.first)

    def redo_step(self) -> Step:
        return Step(self.path, self.first, self.last)

    @property
    def first(self) -> FileState:
        return self.changes[0].before

    @property
    def last(self) -> FileState:
        return self.changes[-1].after or self.changes[-1].before


class SnapshotStore:
    def __init__(self, manifest: Manifest, blobs: BlobStore) -> None:
        self._manifest = manifest
        self._blobs = blobs

    async def before_change(
        self, session_id: str, turn: int, call_id: str, paths: Iterable[Path]
    ) -> tuple[Change, ...]:
        """Store what is at `paths`, all resolved. Nothing may be changed if this fails."""
        given = tuple(paths)
        states = await settled(lambda: self._keep(given))
        return await self._manifest.begin(session_id, turn, call_id, states)

    async def after_change(self, session_id: str, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """Store what is there now; return the actual changes."""
        states = await settled(lambda: [(change, self._state_after(change.path)) for change in changes])
        return await self._manifest.finish(session_id, states)

    async def changed(self, session_id: str, turn: int) -> tuple[ChangedFile, ...]:
        """Return what `turn` and all later ones did to each file."""
        return await changed_files(await self._manifest.outermost(session_id, turn), self._blobs)

    async def has_effect(self, session_id: str, turn: int) -> bool:
        """Return whether `turn` or a later one left anything to undo: files, folders, links or modes."""
        histories = _histories(await self._manifest.since(session_id, turn))
        return any(history.problem() or not history.first.is_like(history.last) for history in histories)

    async def touched(self, session_id: str, turn: int) -> tuple[Change, ...]:
        """Return the newest change of each path that is not as it was before `turn`, also links and folders.

        A folder that contains another of them is left out: it came or went with its content.
        """
        histories = _histories(await self._manifest.outermost(session_id, turn))
        newest = [history.changes[-1] for history in histories if not history.first.is_like(history.last)]
        holding = {folder for change in newest for folder in change.path.parents}
        return tuple(change for change in newest if change.path not in holding)

    async def restore(self, session_id: str, turn: int) -> Restored:
        """Restore files to how they were before `turn` and all later ones.

        What changed since is left alone.
        """
        changes = await self._manifest.since(session_id, turn)
        histories = _histories(changes)
        restored = await self._apply_steps(
            session_id, tuple((history, history.undo_step()) for history in histories), undone=True
        )
        seen = {history.path for history in histories if history.may_be_users}
        return replace(restored, seen=tuple(path for path in restored.paths if path in seen))

    async def export_undone(self, session_id: str, turn: int, root: Path, folder: Path) -> ExportedFiles:
        """Export what undos removed from `turn` on and may be the user's, to a folder."""
        changes = await self._manifest.all_undone(session_id, turn)
        return await settled(lambda: export_undone(changes, root, folder, self._blobs))

    async def redo(self, session_id: str, turn: int, last: int | None = None) -> Restored:
        """Redo the changes of `turn`, which was undone, and of later undone turns up to `last`."""
        undone = await self._manifest.since(session_id, turn, undone=True)
        changes = tuple(change for change in undone if last is None or change.turn <= last)
        steps = tuple((history, history.redo_step()) for history in _histories(changes))
        return await self._apply_steps(session_id, steps, undone=False)

    async def revert(self, reverts: tuple[Revert, ...]) -> None:
        """Change files as the user wishes, all or none; the caller keeps the copies."""
        await settled(lambda: revert_all(reverts, self._blobs))

    def _keep(self, paths: tuple[Path, ...]) -> list[tuple[Path, FileState]]:
        touched = dict.fromkeys(part for path in paths for part in (*missing_folders(path), path))
        try:
            return [(path, state_of(path, self._blobs.put)) for path in touched]
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ToolError(
                ErrorType.EXECUTION_FAILED, f"No copy could be stored before the change: {reason}."
            ) from error

    def _state_after(self, path: Path) -> FileState:
        """Return the state after a change.

        It never fails: the change has happened, and undoing it needs no copy of it.
        """
        try:
            return state_of(path, self._blobs.put)
        except StorageError:
            log.warning("no copy of the changed %s could be stored", path)
            return state_of(path)
        except OSError as error:
            # Behind a link there is nothing of this name.
            return ABSENT if error.errno == errno.ELOOP else FileState(FileKind.OTHER)

    async def _apply_steps(
        self, session_id: str, steps: tuple[tuple[_PathHistory, Step], ...], *, undone: bool
    ) -> Restored:
        done: list[Path] = []
        folders: set[Path] = set()
        conflicts: dict[Path, Conflict] = {}
        for move in sorted(_moves(steps), key=_Move.order):
            history, step = move.history, move.whole
            if history.path in conflicts:
                continue
            if refusal := await settled(partial(_apply_move, move, self._blobs)):
                conflicts[history.path] = Conflict(history.path, history.problem() or refusal)
            elif move.is_last:
                await self._manifest.mark_undone(session_id, history.changes, undone=undone)
                done.append(history.path)
                if {step.expected.kind, step.wanted.kind} <= {FileKind.FOLDER, FileKind.ABSENT}:
                    folders.add(history.path)
        return Restored(tuple(done), tuple(conflicts.values()), frozenset(folders))


@dataclass(frozen=True, slots=True)
class _Move:
    """One part of restoring a path."""

    history: _PathHistory
    whole: Step
    part: Step

    @property
    def is_last(self) -> bool:
        return self.part == self.whole.parts()[-1]

    def loses_something(self, blobs: BlobStore) -> bool:
        """Return whether the content may be the user's and no copy of it exists."""
        is_there = self.part.expected == self.history.last and self.part.expected != self.part.wanted
        return is_there and self.history.may_be_users and not blobs.has(self.history.last.content)

    def order(self) -> tuple[int, int]:
        """Order the moves.

        First folders become writable, then paths are deleted from the deepest up, then others are created,
        and finally folder modes are restored.
        """
        depth = len(self.part.path.parts)
        if self.part.expected.kind is self.part.wanted.kind is FileKind.FOLDER:
            return (0, depth) if self.part.wanted.mode & stat.S_IRWXU == stat.S_IRWXU else (3, -depth)
        return (1, -depth) if self.part.wanted == ABSENT else (2, depth)


def _moves(steps: Iterable[tuple[_PathHistory, Step]]) -> Iterator[_Move]:
    for history, step in steps:
        # Even if the changes do not follow from each other, there may be nothing to do.
        whole = Step(step.path, step.wanted, step.wanted) if history.problem() else step
        yield from (_Move(history, whole, part) for part in whole.parts())


def _apply_move(move: _Move, blobs: BlobStore) -> str:
    """Apply a move; return why it failed, or an empty text."""
    if move.loses_something(blobs) and not _is_there(move.whole):
        return NO_COPY
    try:
        apply_step(move.part, blobs)
    except ConflictError as error:
        if _is_there(move.whole):
            return ""
        first = move.whole.parts()[0]
        if first != move.part:
            # It stays as it was.
            with contextlib.suppress(ConflictError):
                apply_step(Step(first.path, first.wanted, first.expected), blobs)
        return str(error)
    return ""


def _is_there(step: Step) -> bool:
    try:
        return state_of(step.path).is_like(step.wanted)
    except OSError:
        return False


def _histories(changes: tuple[Change, ...]) -> tuple[_PathHistory, ...]:
    by_path: dict[Path, list[Change]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    return tuple(_PathHistory(tuple(found)) for found in by_path.values())
