"""Replace a file's content in one step: complete, on disk and checked, or not at all."""

import asyncio
import contextlib
import errno
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.storage.half_written import half_written, temporary_name
from coder_tui.tasks import finish_despite_cancel
from coder_tui.workspace.files.confine import Located, explain, missing_folders, open_folder
from coder_tui.workspace.files.text import TextFile

_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class NewFile:
    """The new content of a file. `mode` None follows the umask. `is_new`: the name must be free."""

    chunks: Iterable[bytes]
    is_new: bool
    mode: int | None = None


def place(path: Path, folder: int, file: NewFile, check: Callable[[], None]) -> None:
    """Put `file` at `path`, whose parent is open as `folder`; `check` runs just before the rename.

    Raises `FileExistsError` if a name that must be free is taken.
    """
    temporary = temporary_name()
    with half_written.making(path.parent / temporary):
        try:
            _write(temporary, path.name, folder, file)
            check()
            if file.is_new:
                _put_new(temporary, path.name, folder)
            else:
                os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
    sync_folder(folder)


def _write(temporary: str, name: str, folder: int, file: NewFile) -> None:
    mode = 0o666 if file.mode is None else 0o600
    descriptor = os.open(temporary, _CREATE_FLAGS, mode, dir_fd=folder)
    try:
        for chunk in file.chunks:
            view = memoryview(chunk)
            while view:
                view = view[os.write(descriptor, view) :]
        if not file.is_new:
            _copy_owner_and_attributes(name, folder, descriptor)
        if file.mode is not None:
            os.fchmod(descriptor, file.mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_owner_and_attributes(name: str, folder: int, descriptor: int) -> None:
    old = os.open(name, _LOOK_FLAGS, dir_fd=folder)
    try:
        was, now = os.fstat(old), os.fstat(descriptor)
        if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
            # Only root may give files away; otherwise the file becomes the writer's, as with any editor.
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, was.st_uid, was.st_gid)
        if sys.platform == "linux":
            _copy_attributes(old, descriptor)
    finally:
        os.close(old)


if sys.platform == "linux":

    def _copy_attributes(old: int, new: int) -> None:
        """Copy access lists and other attributes; some need root, and some file systems have none."""
        try:
            names = os.listxattr(old)
        except OSError:
            return
        for name in names:
            with contextlib.suppress(OSError):
                os.setxattr(new, name, os.getxattr(old, name))


def _put_new(temporary: str, name: str, folder: int) -> None:
    """Give the file its name only if the name is still free."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
            raise
        # File systems without hard links (FAT, some network shares) have no exclusive rename either.
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def sync_folder(folder: int) -> None:
    """Make names durable, if the folder may be read."""
    # Opened again, because the descriptor may be O_PATH, which cannot be synced.
    with contextlib.suppress(PermissionError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


T = TypeVar("T")


async def save(located: Located, data: bytes, before: TextFile | None, mode: int | None = None) -> None:
    """Write `data` where `before` was loaded from (None: no file yet); `mode` None keeps the mode.

    Raises `stale_file` if the file is not as it was loaded. A cancelled call still finishes its write, so
    that nobody reads a half-known state: the caller sees the cancellation only after the write is done.
    """
    await settled(lambda: _save(located, data, before, mode))


async def remove(located: Located, before: TextFile) -> None:
    """Remove the file that `before` was loaded from; raise `stale_file` if it is not as it was loaded."""
    await settled(lambda: _remove(located, before))


async def settled(work: Callable[[], T]) -> T:
    """Run `work` in a thread; a cancellation is raised only after it is done."""
    return await finish_despite_cancel(asyncio.to_thread(work))


def _save(located: Located, data: bytes, before: TextFile | None, mode: int | None) -> None:
    made = missing_folders(located.path) if before is None else ()
    try:
        _save_there(located, data, before, mode)
    except BaseException:
        _remove_empty(made)
        raise


def _remove_empty(folders: tuple[Path, ...]) -> None:
    """Remove the folders that were created for a file that could not be written, unless others use them."""
    for path in reversed(folders):
        with contextlib.suppress(OSError):
            parent = open_folder(path.parent)
            try:
                os.rmdir(path.name, dir_fd=parent)
            finally:
                os.close(parent)


def _save_there(located: Located, data: bytes, before: TextFile | None, mode: int | None) -> None:
    try:
        folder = open_folder(located.path.parent, create=before is None)
        try:
            _replace(located, folder, data, before, mode)
        finally:
            os.close(folder)
    except FileExistsError as error:
        raise stale_file(located, "has been created by somebody else") from error
    except OSError as error:
        raise explain(error, located) from error


def _replace(located: Located, folder: int, data: bytes, before: TextFile | None, mode: int | None) -> None:
    if before is None:
        place(located.path, folder, NewFile((data,), True, mode), _nothing_to_check)
        return
    _check_writable(located, folder)
    file = NewFile((data,), False, before.mode if mode is None else mode)
    place(located.path, folder, file, lambda: _check_unchanged(located, folder, before))


def _nothing_to_check() -> None:
    """Do nothing: a new file's name is checked when it is given."""


def _remove(located: Located, before: TextFile) -> None:
    try:
        folder = open_folder(located.path.parent)
        try:
            _check_writable(located, folder)
            _check_unchanged(located, folder, before)
            os.unlink(located.path.name, dir_fd=folder)
            sync_folder(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise explain(error, located) from error


def _check_writable(located: Located, folder: int) -> None:
    """Check write permission first, because a rename would bypass a file's own protection."""
    name = located.path.name
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(name, os.W_OK, dir_fd=folder):
        raise ToolError(ErrorType.EXECUTION_FAILED, f"{located.shown} is read-only.", "Ask the user first.")


def _check_unchanged(located: Located, folder: int, before: TextFile) -> None:
    """Check that this is the file that was loaded, with the same content."""
    try:
        descriptor = os.open(located.path.name, _LOOK_FLAGS, dir_fd=folder)
    except FileNotFoundError as error:
        raise stale_file(located, "was removed while it was being changed") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not before.is_same_file(status):
            raise stale_file(located, "was replaced by another file while it was being changed")
        # Hashed in pieces, because the file may now be of any size.
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != before.digest:
        raise stale_file(located, "changed on disk while it was being changed")


def stale_file(located: Located, what: str) -> ToolError:
    return ToolError(
        ErrorType.STALE_FILE,
        f"{located.shown} {what}.",
        "Read it, then make the change again.",
        {"path": located.shown},
    )
