"""Gives a name its new file in one step: whole, on disk and checked, or not at all."""

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.storage.leftovers import half_written, temporary_name

_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to be. `mode` None: as the person's umask says. `is_new`: the name must be free."""

    chunks: Iterable[bytes]
    is_new: bool
    mode: int | None = None


def place(path: Path, folder: int, file: NewFile, check: Callable[[], None]) -> None:
    """Put `file` at `path`, whose parent is open as `folder`. `check` has the last word before it counts.

    Raises `FileExistsError` where a name that must be free is taken.
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
            # Only root may give files away; for others the file becomes the writer's, as with any editor.
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, was.st_uid, was.st_gid)
        if sys.platform == "linux":
            _copy_attributes(old, descriptor)
    finally:
        os.close(old)


if sys.platform == "linux":

    def _copy_attributes(old: int, new: int) -> None:
        """Access lists and the like; some may be set by root alone, and some file systems have none."""
        try:
            names = os.listxattr(old)
        except OSError:
            return
        for name in names:
            with contextlib.suppress(OSError):
                os.setxattr(new, name, os.getxattr(old, name))


def _put_new(temporary: str, name: str, folder: int) -> None:
    """Give the file its name only if nobody took it meanwhile."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
            raise
        # File systems without hard links (FAT, some network shares) have no exclusive rename either.
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def sync_folder(folder: int) -> None:
    """Make names durable, where the folder may be read."""
    # Opened anew: the descriptor may be O_PATH, which cannot be synced.
    with contextlib.suppress(PermissionError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
