"""What is at a path right now, links not followed: the measure that undo goes by."""

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from coder_tui.storage.blobs import CHUNK
from coder_tui.storage.manifest import ABSENT, FileKind, FileState
from coder_tui.workspace.confine import open_folder

Keep = Callable[[Iterable[bytes]], str]
"""Takes a content and returns its hash; whether it also stores it is its own affair."""

_LOOK_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY


def hash_of(chunks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


def state_of(path: Path, keep: Keep = hash_of) -> FileState:
    """Look at a resolved path; `OSError` where that is not possible, as through a link on the way."""
    try:
        folder = open_folder(path.parent)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    try:
        return state_in(folder, path.name, keep)
    finally:
        os.close(folder)


def state_in(folder: int, name: str, keep: Keep = hash_of) -> FileState:
    """The same for a name in an open folder."""
    try:
        mode = os.stat(name or ".", dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISREG(mode):
            return _file(folder, name, keep)
        if stat.S_ISLNK(mode):
            target = os.fsencode(os.readlink(name, dir_fd=folder))
            return FileState(FileKind.LINK, keep((target,)))
    except FileNotFoundError:
        return ABSENT
    if stat.S_ISDIR(mode):
        return FileState(FileKind.FOLDER, mode=stat.S_IMODE(mode))
    return FileState(FileKind.OTHER)


def _file(folder: int, name: str, keep: Keep) -> FileState:
    descriptor = os.open(name, _LOOK_FLAGS, dir_fd=folder)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            return FileState(FileKind.OTHER)
        return FileState(FileKind.FILE, keep(_chunks(descriptor)), stat.S_IMODE(mode))
    finally:
        os.close(descriptor)


def _chunks(descriptor: int) -> Iterator[bytes]:
    while chunk := os.read(descriptor, CHUNK):
        yield chunk
