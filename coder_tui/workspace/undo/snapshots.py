"""Keeps how files were before each change, so that a turn can be undone, and done again, exactly."""

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
from coder_tui.workspace.undo.changed_files import BroughtOut, ChangedFile, bring_out, changed_files
from coder_tui.workspace.undo.restore import ConflictError, Revert, Step, revert_all, state_of, take

log = logging.getLogger(__name__)
NO_COPY = "it changed while a command ran, and no copy of it could be kept"


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
    """Those of the paths that are, or were, a folder and nothing else."""
    seen: tuple[Path, ...] = ()
    """Those whose content went, though it may have been the person's: it changed while a command ran."""


@dataclass(frozen=True, slots=True)
class _Line:
    """All changes of one path that are to be taken back or made again, in their order."""

    changes: tuple[Change, ...]

    @property
    def path(self) -> Path:
        return self.changes[0].path

    def problem(self) -> str:
        """Why the changes do not lead from one to the next; empty when they do."""
        for change, following in zip(self.changes, self.changes[1:], strict=False):
            if change.after is not None and not change.after.is_like(following.before):
                return "somebody else changed it between two of these changes"
        if any(change.after is None for change in self.changes):
            return "the program ended while it was changed; how it should look is not known"
        return ""

    @property
    def may_be_anybodys(self) -> bool:
        """Whether a file is there that was seen to change while a command ran."""
        return self.last.kind is FileKind.FILE and any(change.is_seen for change in self.changes)

    def step_back(self) -> Step:
        return Step(self.path, self.last, self.first)

    def step_forth(self) -> Step:
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
        """Keep what is at `paths`, all resolved. Nothing may be changed when this fails."""
        given = tuple(paths)
        states = await settled(lambda: self._keep(given))
        return await self._manifest.add_changes(session_id, turn, call_id, states)

    async def after_change(self, session_id: str, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """Keep what is there now; returns the changes that really were."""
        states = await settled(lambda: [(change, self._state_after(change.path)) for change in changes])
        return await self._manifest.finish_changes(session_id, states)

    async def changed(self, session_id: str, turn: int) -> tuple[ChangedFile, ...]:
        """What `turn` and all later ones did to each file."""
        return await changed_files(await self._manifest.outer_changes(session_id, turn), self._blobs)

    async def has_effect(self, session_id: str, turn: int) -> bool:
        """Whether there is anything of `turn` and later ones to take back: files, folders, links or modes."""
        lines = _lines(await self._manifest.changes(session_id, turn))
        return any(line.problem() or not line.first.is_like(line.last) for line in lines)

    async def touched(self, session_id: str, turn: int) -> tuple[Change, ...]:
        """The newest change of each path that is not as it was before `turn`; links and folders count.

        A folder that holds another of them is left out: it came or went with what is in it.
        """
        lines = _lines(await self._manifest.outer_changes(session_id, turn))
        newest = [line.changes[-1] for line in lines if not line.first.is_like(line.last)]
        holding = {folder for change in newest for folder in change.path.parents}
        return tuple(change for change in newest if change.path not in holding)

    async def restore(self, session_id: str, turn: int) -> Restored:
        """Bring back how files were before `turn`, and with it all later ones. What changed since is left."""
        changes = await self._manifest.changes(session_id, turn)
        lines = _lines(changes)
        restored = await self._go(session_id, tuple((line, line.step_back()) for line in lines), undone=True)
        seen = {line.path for line in lines if line.may_be_anybodys}
        return replace(restored, seen=tuple(path for path in restored.paths if path in seen))

    async def bring_out(self, session_id: str, turn: int, root: Path, folder: Path) -> BroughtOut:
        """Write what undos took back from `turn` on, and may have been the person's, into a folder."""
        changes = await self._manifest.given_up(session_id, turn)
        return await settled(lambda: bring_out(changes, root, folder, self._blobs))

    async def redo(self, session_id: str, turn: int, last: int | None = None) -> Restored:
        """Make the changes of `turn`, which was undone, and of later undone ones up to `last` again."""
        undone = await self._manifest.changes(session_id, turn, undone=True)
        changes = tuple(change for change in undone if last is None or change.turn <= last)
        steps = tuple((line, line.step_forth()) for line in _lines(changes))
        return await self._go(session_id, steps, undone=False)

    async def revert(self, reverts: tuple[Revert, ...]) -> None:
        """Change files as a person wishes, all or none; whoever calls keeps the copies."""
        await settled(lambda: revert_all(reverts, self._blobs))

    def _keep(self, paths: tuple[Path, ...]) -> list[tuple[Path, FileState]]:
        touched = dict.fromkeys(part for path in paths for part in (*missing_folders(path), path))
        try:
            return [(path, state_of(path, self._blobs.put)) for path in touched]
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ToolError(
                ErrorType.EXECUTION_FAILED, f"No copy could be kept before the change: {reason}."
            ) from error

    def _state_after(self, path: Path) -> FileState:
        """What the change left, in any case: it has happened, and taking it back needs no copy of it."""
        try:
            return state_of(path, self._blobs.put)
        except StorageError:
            log.warning("no copy of the changed %s could be kept", path)
            return state_of(path)
        except OSError as error:
            # Behind a link there is nothing of this name.
            return ABSENT if error.errno == errno.ELOOP else FileState(FileKind.OTHER)

    async def _go(self, session_id: str, steps: tuple[tuple[_Line, Step], ...], *, undone: bool) -> Restored:
        done: list[Path] = []
        folders: set[Path] = set()
        conflicts: dict[Path, Conflict] = {}
        for move in sorted(_moves(steps), key=_Move.order):
            line, step = move.line, move.whole
            if line.path in conflicts:
                continue
            if refusal := await settled(partial(_take, move, self._blobs)):
                conflicts[line.path] = Conflict(line.path, line.problem() or refusal)
            elif move.is_last:
                await self._manifest.mark_undone(session_id, line.changes, undone=undone)
                done.append(line.path)
                if {step.expected.kind, step.wanted.kind} <= {FileKind.FOLDER, FileKind.ABSENT}:
                    folders.add(line.path)
        return Restored(tuple(done), tuple(conflicts.values()), frozenset(folders))


@dataclass(frozen=True, slots=True)
class _Move:
    """One part of bringing a line where it should be."""

    line: _Line
    whole: Step
    part: Step

    @property
    def is_last(self) -> bool:
        return self.part == self.whole.parts()[-1]

    def loses_something(self, blobs: BlobStore) -> bool:
        """Whether what is there may be the person's, and nobody else has it."""
        is_there = self.part.expected == self.line.last and self.part.expected != self.part.wanted
        return is_there and self.line.may_be_anybodys and not blobs.has(self.line.last.content)

    def order(self) -> tuple[int, int]:
        """Folders are opened; then first what goes, from the depth up, so that a folder is empty when its
        turn comes; then what comes; and folders are closed."""
        depth = len(self.part.path.parts)
        if self.part.expected.kind is self.part.wanted.kind is FileKind.FOLDER:
            return (0, depth) if self.part.wanted.mode & stat.S_IRWXU == stat.S_IRWXU else (3, -depth)
        return (1, -depth) if self.part.wanted == ABSENT else (2, depth)


def _moves(steps: Iterable[tuple[_Line, Step]]) -> Iterator[_Move]:
    for line, step in steps:
        # Even where changes do not lead from one to the next there may be nothing to do.
        whole = Step(step.path, step.wanted, step.wanted) if line.problem() else step
        yield from (_Move(line, whole, part) for part in whole.parts())


def _take(move: _Move, blobs: BlobStore) -> str:
    """Returns why it could not be done, or nothing."""
    if move.loses_something(blobs) and not _is_there(move.whole):
        return NO_COPY
    try:
        take(move.part, blobs)
    except ConflictError as error:
        if _is_there(move.whole):
            return ""
        first = move.whole.parts()[0]
        if first != move.part:
            # It stays, and as it was.
            with contextlib.suppress(ConflictError):
                take(Step(first.path, first.wanted, first.expected), blobs)
        return str(error)
    return ""


def _is_there(step: Step) -> bool:
    try:
        return state_of(step.path).is_like(step.wanted)
    except OSError:
        return False


def _lines(changes: tuple[Change, ...]) -> tuple[_Line, ...]:
    by_path: dict[Path, list[Change]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    return tuple(_Line(tuple(found)) for found in by_path.values())
