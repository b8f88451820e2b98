"""Takes rejected changes back: all of them or none, and only in files that are as they were seen."""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.protocol.errors import UserError
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.manifest import ABSENT, FileKind, FileState
from coder_tui.workspace.file_state import hash_of, state_of
from coder_tui.workspace.restore import CHANGED_SINCE, ConflictError, Step, take


@dataclass(frozen=True, slots=True)
class Revert:
    """A file goes from the content that was seen to another; None is no file.

    `mode` None keeps the mode that the file has, or has had.
    """

    path: Path
    seen: bytes | None
    wanted: bytes | None
    mode: int | None = None


class RevertError(UserError):
    """Nothing was taken back; says why."""


def is_as_seen(path: Path, seen: bytes | None) -> bool:
    """Whether a path still has the content that was seen."""
    try:
        return _is(state_of(path), seen)
    except OSError:
        return False


def revert_all(reverts: Iterable[Revert], blobs: BlobStore) -> None:
    """Do all of it; `RevertError` when something stands in the way, with every file as it was."""
    steps = [_step(revert, blobs) for revert in reverts]
    done: list[Step] = []
    for step in steps:
        try:
            take(step, blobs)
        except ConflictError as error:
            _go_back(done, blobs)
            raise _refusal(step.path, str(error)) from error
        done.append(step)


def _go_back(done: list[Step], blobs: BlobStore) -> None:
    for step in reversed(done):
        # What somebody else changed meanwhile is theirs; the first error is the one to tell.
        with contextlib.suppress(ConflictError):
            take(Step(step.path, step.wanted, step.expected), blobs)


def _step(revert: Revert, blobs: BlobStore) -> Step:
    try:
        # Kept, so that this very step can be taken back.
        current = state_of(revert.path, blobs.put)
    except OSError as error:
        raise _refusal(revert.path, error.strerror or type(error).__name__) from error
    if not _is(current, revert.seen):
        raise _refusal(revert.path, CHANGED_SINCE)
    if revert.wanted is None:
        return Step(revert.path, current, ABSENT)
    mode = revert.mode if revert.mode is not None else current.mode or 0o644
    return Step(revert.path, current, FileState(FileKind.FILE, blobs.put((revert.wanted,)), mode))


def _is(state: FileState, seen: bytes | None) -> bool:
    if seen is None:
        return state == ABSENT
    return state.kind is FileKind.FILE and state.content == hash_of((seen,))


def _refusal(path: Path, reason: str) -> RevertError:
    return RevertError(f"{path.name} cannot be taken back: {reason}. Nothing was changed.")
