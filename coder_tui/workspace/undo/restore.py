"""Bring a path from one known state to another, or leave it and say why.

Also reverts rejected changes: all or none, and only in files that are as the user saw them. States are read
without following links.
"""

import contextlib
import errno
import hashlib
import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from coder_tui.protocol.errors import StorageError, UserError
from coder_tui.storage.blobs import CHUNK, BlobStore
from coder_tui.storage.half_written import half_written, temporary_name
from coder_tui.storage.manifest import ABSENT, FileKind, FileState
from coder_tui.workspace.files.confine import open_folder
from coder_tui.workspace.files.save import NewFile, place, sync_folder

StoreContent = Callable[[Iterable[bytes]], str]
"""Takes content and returns its hash; it may also store the content."""

_LOOK_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY


def hash_of(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def state_of(path: Path, store: StoreContent = hash_of) -> FileState:
    """Return the state of a resolved path; raise `OSError` if that is not possible, as through a link."""
    try:
        folder = open_folder(path.parent)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    try:
        return state_in(folder, path.name, store)
    finally:
        os.close(folder)


def state_in(folder: int, name: str, store: StoreContent = hash_of) -> FileState:
    """Return the state of a name in an open folder."""
    try:
        mode = os.stat(name or ".", dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISREG(mode):
            return _file(folder, name, store)
        if stat.S_ISLNK(mode):
            target = os.fsencode(os.readlink(name, dir_fd=folder))
            return FileState(FileKind.LINK, store((target,)))
    except FileNotFoundError:
        return ABSENT
    if stat.S_ISDIR(mode):
        return FileState(FileKind.FOLDER, mode=stat.S_IMODE(mode))
    return FileState(FileKind.OTHER)


def _file(folder: int, name: str, store: StoreContent) -> FileState:
    descriptor = os.open(name, _LOOK_FLAGS, dir_fd=folder)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            return FileState(FileKind.OTHER)
        return FileState(FileKind.FILE, store(_chunks(descriptor)), stat.S_IMODE(mode))
    finally:
        os.close(descriptor)


def _chunks(descriptor: int) -> Iterator[bytes]:
    while chunk := os.read(descriptor, CHUNK):
        yield chunk


CHANGED_SINCE = "it has changed since"
NOT_EMPTY = "the folder is not empty"
IN_ITS_PLACE = "a folder that is not empty is in its place"


class ConflictError(Exception):
    """A path is not in the expected state; it was left alone."""


@dataclass(frozen=True, slots=True)
class Step:
    """`path` goes from `expected` to `wanted`."""

    path: Path
    expected: FileState
    wanted: FileState

    def parts(self) -> "tuple[Step, ...]":
        """Split a step if its folder is not writable: make it writable first, restore its mode at the end."""
        states = (self.expected, _opened(self.expected), _opened(self.wanted), self.wanted)
        found = tuple(
            Step(self.path, before, after) for before, after in itertools.pairwise(states) if before != after
        )
        return found or (self,)


def _opened(state: FileState) -> FileState:
    is_known = state.kind is FileKind.FOLDER and state.mode
    return replace(state, mode=state.mode | stat.S_IRWXU) if is_known else state


def apply_step(step: Step, blobs: BlobStore) -> None:
    """Apply the step; raise `ConflictError` if the path is in a third state or the step fails."""
    try:
        current = state_of(step.path)
        if current.is_like(step.wanted):
            return
        if not current.is_like(step.expected):
            raise ConflictError(CHANGED_SINCE)
        folder = open_folder(step.path.parent, create=step.wanted != ABSENT)
        try:
            _apply(step, folder, blobs)
        finally:
            os.close(folder)
    except FileExistsError as error:
        raise ConflictError(CHANGED_SINCE) from error
    except StorageError as error:
        raise ConflictError(str(error)) from error
    except OSError as error:
        raise ConflictError(_reason(error, step.wanted)) from error


def _reason(error: OSError, wanted: FileState) -> str:
    match error.errno:
        case errno.ELOOP:
            return "its path now leads through a symbolic link"
        case errno.ENOTEMPTY:
            return NOT_EMPTY if wanted == ABSENT else IN_ITS_PLACE
        case _:
            return error.strerror or type(error).__name__


def _apply(step: Step, folder: int, blobs: BlobStore) -> None:
    name = step.path.name

    def check() -> None:
        if state_in(folder, name) != step.expected:
            raise ConflictError(CHANGED_SINCE)

    if step.expected.kind is step.wanted.kind is FileKind.FOLDER:
        _set_mode(name, folder, step.wanted.mode)
    elif step.expected.kind is FileKind.FOLDER:
        os.rmdir(name, dir_fd=folder)
        _make(Step(step.path, ABSENT, step.wanted), folder, blobs, _nothing_to_check)
    else:
        _make(step, folder, blobs, check)
    sync_folder(folder)


def _nothing_to_check() -> None:
    """Do nothing: that the name is free is checked when it is given."""


def _make(step: Step, folder: int, blobs: BlobStore, check: Callable[[], None]) -> None:
    is_new = step.expected == ABSENT
    match step.wanted.kind:
        case FileKind.FILE:
            _clear_link(step, folder, check)
            is_new = is_new or step.expected.kind is FileKind.LINK
            file = NewFile(blobs.chunks(step.wanted.content), is_new, step.wanted.mode)
            place(step.path, folder, file, _nothing_to_check if is_new else check)
        case FileKind.LINK:
            _place_link(step, folder, b"".join(blobs.chunks(step.wanted.content)), check)
        case FileKind.FOLDER:
            if not is_new:
                check()
                os.unlink(step.path.name, dir_fd=folder)
            os.mkdir(step.path.name, dir_fd=folder)
            if step.wanted.mode:
                _set_mode(step.path.name, folder, step.wanted.mode)
        case FileKind.ABSENT:
            if not is_new:
                check()
                os.unlink(step.path.name, dir_fd=folder)
        case FileKind.OTHER:
            raise ConflictError("it was neither a file nor a folder, so there is no copy")
        case other:
            assert_never(other)


def _set_mode(name: str, folder: int, mode: int) -> None:
    """Set a folder's mode, whatever the umask is."""
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _clear_link(step: Step, folder: int, check: Callable[[], None]) -> None:
    """Remove a link first: it has no owner or attributes that a file would take over."""
    if step.expected.kind is FileKind.LINK:
        check()
        os.unlink(step.path.name, dir_fd=folder)


def _place_link(step: Step, folder: int, target: bytes, check: Callable[[], None]) -> None:
    temporary = temporary_name()
    with half_written.making(step.path.parent / temporary):
        try:
            os.symlink(target, os.fsencode(temporary), dir_fd=folder)
            check()
            os.replace(temporary, step.path.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)


@dataclass(frozen=True, slots=True)
class Revert:
    """A file goes from the content that was seen to another; None is no file.

    `mode` None keeps the file's current or previous mode.
    """

    path: Path
    seen: bytes | None
    wanted: bytes | None
    mode: int | None = None


class RevertError(UserError):
    """Nothing was reverted; the message says why."""


def is_as_seen(path: Path, seen: bytes | None) -> bool:
    """Return whether a path still has the content that was seen."""
    try:
        return _is(state_of(path), seen)
    except OSError:
        return False


def revert_all(reverts: Iterable[Revert], blobs: BlobStore) -> None:
    """Apply all reverts; if one fails, restore every file and raise `RevertError`."""
    steps = [_step(revert, blobs) for revert in reverts]
    done: list[Step] = []
    for step in steps:
        try:
            apply_step(step, blobs)
        except ConflictError as error:
            _go_back(done, blobs)
            raise _refusal(step.path, str(error)) from error
        done.append(step)


def _go_back(done: list[Step], blobs: BlobStore) -> None:
    for step in reversed(done):
        # What somebody else has changed since then is left alone; the first error is the one to report.
        with contextlib.suppress(ConflictError):
            apply_step(Step(step.path, step.wanted, step.expected), blobs)


def _step(revert: Revert, blobs: BlobStore) -> Step:
    try:
        # Stored, so that this step can be undone.
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
    return RevertError(f"{path.name} cannot be reverted: {reason}. Nothing was changed.")
