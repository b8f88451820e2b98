"""Lets one process at a time write a session; the system frees what a dead one held."""

import fcntl
import os
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import StorageError

_ENDING = ".lock"


class Claims:
    """Locks on files in `folder`, one for each claimed session. Its calls block, if briefly."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    def take(self, session_id: str) -> bool:
        """Claim for good; False where somebody else holds it. Claiming twice is claiming once."""
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
        """The sessions that others hold now."""
        found = (path.stem for path in self._folder.glob(f"*{_ENDING}"))
        return frozenset(each for each in found if each not in self._held and _is_locked(self._path(each)))

    def release(self, session_id: str) -> None:
        handle = self._held.pop(session_id, None)
        if handle is not None:
            # Removed while the lock is held: whoever waits on the old file sees that it is not this one.
            self._path(session_id).unlink(missing_ok=True)
            os.close(handle)

    def release_all(self) -> None:
        for session_id in tuple(self._held):
            self.release(session_id)

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}{_ENDING}"


def _lock(path: Path) -> int | None:
    """Lock the file that `path` names now; None where it is held."""
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
    """Looks only at files that are there: what nobody holds has none, but after a crash."""
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
