"""Puts new bytes in a file's place all at once, or leaves what was there untouched."""

import asyncio
import contextlib
import errno
import os
import secrets
import stat

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.confine import Located, explain, open_folder
from coder_tui.workspace.files import TextFile, digest_of

TEMPORARY_PREFIX = ".coder-tui-"
_CHUNK = 1024 * 1024
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


async def save(located: Located, data: bytes, before: TextFile | None) -> None:
    """Write `data` where `before` was loaded from (None: where nothing was).

    Raises `stale_file` when the file is not as it was loaded. A cancelled call still ends its write, so that
    nobody reads a half-known state: the caller sees the cancellation only after the disk is settled.
    """
    task = asyncio.ensure_future(asyncio.to_thread(_save, located, data, before))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()
        raise


def _save(located: Located, data: bytes, before: TextFile | None) -> None:
    try:
        folder = open_folder(located.path.parent, create=before is None)
        try:
            _replace(located, folder, data, before)
            _sync_folder(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise explain(error, located) from error


def _replace(located: Located, folder: int, data: bytes, before: TextFile | None) -> None:
    if before is not None:
        _check_writable(located, folder)
    temporary = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp"
    try:
        _write_temporary(temporary, folder, data, located, before)
        _check_unchanged(located, folder, before)
        if before is None:
            _put_new(temporary, located, folder)
        else:
            os.replace(temporary, located.path.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def _write_temporary(name: str, folder: int, data: bytes, located: Located, before: TextFile | None) -> None:
    descriptor = os.open(name, _CREATE_FLAGS, 0o666 if before is None else 0o600, dir_fd=folder)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view[:_CHUNK]) :]
        if before is not None:
            _copy_owner(descriptor, folder, located.path.name)
            os.fchmod(descriptor, before.mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_owner(descriptor: int, folder: int, name: str) -> None:
    old, new = os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        # Only root may give files away; for others the file becomes the writer's, as with any editor.
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)


def _check_writable(located: Located, folder: int) -> None:
    """A rename would get past a file's own protection, so that is looked at first."""
    name = located.path.name
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(name, os.W_OK, dir_fd=folder):
        raise ToolError(ErrorType.EXECUTION_FAILED, f"{located.shown} is read-only.", "Ask the person first.")


def _check_unchanged(located: Located, folder: int, before: TextFile | None) -> None:
    if before is None:
        return
    if _digest(located.path.name, folder) != before.digest:
        raise stale_file(located, "changed on disk while the change was made")


def _digest(name: str, folder: int) -> str:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        return digest_of(file.read())


def _put_new(temporary: str, located: Located, folder: int) -> None:
    """Give the file its name only if nobody took it meanwhile."""
    name = located.path.name
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError as error:
        raise stale_file(located, "was created by somebody else meanwhile") from error
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK}:
            raise
        # File systems without hard links (FAT, some network shares) have no exclusive rename either.
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _sync_folder(folder: int) -> None:
    # The walk's descriptor may be O_PATH, which cannot be synced. A folder that may not be read is left.
    with contextlib.suppress(PermissionError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def stale_file(located: Located, what: str) -> ToolError:
    return ToolError(
        ErrorType.STALE_FILE,
        f"{located.shown} {what}.",
        "Read it, then make the change again.",
        {"path": located.shown},
    )
