"""Locks that end with their process: only one process writes a session, and none leaves files behind.

Half-written files are recorded, so that the next start removes what a killed program left.
"""

import fcntl
import logging
import os
import secrets
import stat
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import StorageError

_ENDING = ".lock"


class Claims:
    """Locks files in `folder`, one for each claimed session. Calls block briefly."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    def acquire(self, session_id: str) -> bool:
        """Claim a session; False if another process holds it. Claiming it again changes nothing."""
        if session_id in self._held:
            return True
        path = self._path(session_id)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            handle = _lock(path)
        except OSError as error:
            raise StorageError(f"cannot lock {display_path(path)}: {error.strerror or error}") from error
        if handle is None:
            return False
        self._held[session_id] = handle
        return True

    def holds(self, session_id: str) -> bool:
        return session_id in self._held

    def held_elsewhere(self) -> frozenset[str]:
        """Return the sessions that other processes hold now."""
        found = (path.stem for path in self._folder.glob(f"*{_ENDING}"))
        return frozenset(each for each in found if each not in self._held and _is_locked(self._path(each)))

    def release(self, session_id: str) -> None:
        handle = self._held.pop(session_id, None)
        if handle is not None:
            # Removed while the lock is held: a process that waits on the old file sees that it is gone.
            self._path(session_id).unlink(missing_ok=True)
            os.close(handle)

    def release_all(self) -> None:
        for session_id in tuple(self._held):
            self.release(session_id)

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}{_ENDING}"


def _lock(path: Path) -> int | None:
    """Lock the file at `path`; return None if another process holds it."""
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:
            os.close(handle)
            raise
        if _is_named(path, handle):
            return handle
        os.close(handle)


def _is_locked(path: Path) -> bool:
    """Return whether a process holds the lock; a file without one is left over from a crash."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    else:
        return False
    finally:
        os.close(handle)


def _is_named(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


log = logging.getLogger(__name__)

_PREFIX, _SUFFIX = ".coder-tui-", ".tmp"
_LIST = ".paths"


def temporary_name() -> str:
    """Return a unique name that is recognizable as ours."""
    return f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"


class Leftovers:
    """A list on disk of the files that this process is writing; its lock shows that the process lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(8)
        self._claims = Claims(folder)
        self._guard = threading.Lock()
        self._unfinished: set[Path] = set()
        self._list: int | None = None

    @contextmanager
    def making(self, path: Path) -> Iterator[None]:
        """List `path` before it exists; when this ends, no file may have that name any more."""
        try:
            self._add(path)
        except OSError as error:
            folder = display_path(self._folder)
            raise StorageError(f"cannot write to {folder}: {error.strerror}; nothing was changed") from error
        try:
            yield
        finally:
            self._drop(path)

    def sweep(self) -> None:
        """Remove half-written files of dead processes; what cannot be removed waits for a later start."""
        if not self._folder.is_dir():
            return
        for noted in sorted(self._folder.glob(f"*{_LIST}")):
            # Separate claims: the lock of this process counts like any other.
            claims = Claims(self._folder)
            if claims.acquire(noted.stem):
                if _remove_all(noted):
                    noted.unlink(missing_ok=True)
                claims.release(noted.stem)

    def close(self) -> None:
        with self._guard:
            if self._list is not None:
                os.close(self._list)
                self._list = None
                self._path.unlink(missing_ok=True)
            self._claims.release_all()

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._token}{_LIST}"

    def _add(self, path: Path) -> None:
        with self._guard:
            if self._list is None:
                self._list = self._open()
            os.write(self._list, os.fsencode(path) + b"\0")
            self._unfinished.add(path)

    def _drop(self, path: Path) -> None:
        with self._guard:
            self._unfinished.discard(path)
            if self._list is not None and not self._unfinished:
                os.ftruncate(self._list, 0)

    def _open(self) -> int:
        # Locked before the list is visible: a list without a lock belongs to a dead process.
        self._claims.acquire(self._token)
        return os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _remove_all(noted: Path) -> bool:
    try:
        paths = [Path(os.fsdecode(raw)) for raw in noted.read_bytes().split(b"\0")[:-1]]
    except FileNotFoundError:
        return False
    removed = [_remove(path) for path in paths]
    return all(removed)


def _remove(path: Path) -> bool:
    """Remove one file if it exists and is ours; False if the system did not allow it."""
    if not (path.name.startswith(_PREFIX) and path.name.endswith(_SUFFIX)):
        return True
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError as error:
        log.warning("cannot remove the half-written %s: %s", path, error)
        return False
    return True


class HalfWritten:
    """Lists the files that this process is writing, once `use_folder` has said where."""

    def __init__(self) -> None:
        self._leftovers: Leftovers | None = None

    def use_folder(self, folder: Path) -> None:
        """Keep the list in `folder` from now on, and remove files that dead processes listed there."""
        if self._leftovers is not None:
            self._leftovers.close()
        self._leftovers = Leftovers(folder)
        self._leftovers.sweep()

    def making(self, path: Path) -> AbstractContextManager[None]:
        return self._leftovers.making(path) if self._leftovers else nullcontext()


half_written = HalfWritten()
"""One for the whole process, shared by everything that writes."""
