"""Remembers half-written files, so that the next start removes what a killed program left behind."""

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
from coder_tui.storage.claims import Claims

log = logging.getLogger(__name__)

_PREFIX, _SUFFIX = ".coder-tui-", ".tmp"
_LIST = ".paths"


def temporary_name() -> str:
    """A name that nobody else has, and that is recognised as ours."""
    return f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"


class Leftovers:
    """A list on disk of the files this process is making; its lock says that the process lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(8)
        self._claims = Claims(folder)
        self._guard = threading.Lock()
        self._unfinished: set[Path] = set()
        self._list: int | None = None

    @contextmanager
    def making(self, path: Path) -> Iterator[None]:
        """Note `path` before it exists; when this ends it must have its name no longer."""
        try:
            self._add(path)
        except OSError as error:
            folder = display_path(self._folder)
            raise StorageError(f"cannot write in {folder}: {error.strerror}; nothing was changed") from error
        try:
            yield
        finally:
            self._drop(path)

    def sweep(self) -> None:
        """Remove what dead processes left half-written; what cannot be removed waits for a later start."""
        if not self._folder.is_dir():
            return
        for noted in sorted(self._folder.glob(f"*{_LIST}")):
            # Claims of its own: the lock that this process holds is somebody's like any other.
            claims = Claims(self._folder)
            if claims.take(noted.stem):
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
        # Claimed before the list can be seen: a list without a lock belongs to the dead.
        self._claims.take(self._token)
        return os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)


def _remove_all(noted: Path) -> bool:
    try:
        paths = [Path(os.fsdecode(raw)) for raw in noted.read_bytes().split(b"\0")[:-1]]
    except FileNotFoundError:
        return False
    removed = [_remove(path) for path in paths]
    return all(removed)


def _remove(path: Path) -> bool:
    """Remove one file, if it is there and of our making; False when the system would not let us."""
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
    """Where the process notes the files it is making; nowhere until a start says where."""

    def __init__(self) -> None:
        self._leftovers: Leftovers | None = None

    def keep_in(self, folder: Path) -> None:
        """Note them in `folder` from now on, and remove what dead processes noted there."""
        if self._leftovers is not None:
            self._leftovers.close()
        self._leftovers = Leftovers(folder)
        self._leftovers.sweep()

    def making(self, path: Path) -> AbstractContextManager[None]:
        return self._leftovers.making(path) if self._leftovers else nullcontext()


half_written = HalfWritten()
"""Of the process as a whole, as its death is: whoever writes shares it."""
