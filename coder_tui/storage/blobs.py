"""Copies of file contents, each stored once by its hash, readable only by the user.

Also which copies belong to which turn and how old they are, to delete the oldest first.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import StorageError
from coder_tui.storage.database import Database
from coder_tui.storage.half_written import Claims, half_written, temporary_name
from coder_tui.storage.records import unpack_text

CHUNK = 1024 * 1024


def always() -> bool:
    """Return True: for work that is never stopped early."""
    return True


_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
SETTLED_SEC = 3600
"""Seconds; younger blobs may belong to a change that another process is about to record."""


TOO_OLD = "it is too old to undo: its copy was deleted (undo.keep_days, undo.keep_mb)"


class GoneError(StorageError):
    """The copy no longer exists."""


class BlobStore:
    """Calls block. When `put` returns, the content is on disk, unless it was called without `waits`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, chunks: Iterable[bytes], *, waits: bool = True) -> str:
        """Store a content and return its hash; an existing one takes no more space.

        Without `waits` a power failure may lose it until `flush` has returned.
        """
        temporary = self._folder / temporary_name()
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with half_written.making(temporary):
                try:
                    return self._put(temporary, chunks, waits=waits)
                finally:
                    temporary.unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageError(f"cannot save a copy to {display_path(self._folder)}: {reason}") from error

    def chunks(self, digest: str) -> Iterator[bytes]:
        """Yield the content in chunks; raise `StorageError` at the end if it is not what was stored."""
        path, actual = self._path(digest), hashlib.sha256()
        try:
            with path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    actual.update(chunk)
                    yield chunk
        except FileNotFoundError as error:
            raise GoneError(TOO_OLD) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageError(f"cannot read the saved copy {display_path(path)}: {reason}") from error
        if actual.hexdigest() != digest:
            raise StorageError(f"the saved copy {display_path(path)} is damaged")

    def has(self, digest: str) -> bool:
        return self._path(digest).is_file()

    def sizes(self) -> dict[str, int]:
        """Return the size in bytes of each content, by hash."""
        found: dict[str, int] = {}
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(FileNotFoundError):
                found[path.parent.name + path.name] = path.stat().st_size
        return found

    def prune(self, kept: frozenset[str], goes_on: Callable[[], bool] = always) -> int:
        """Delete all contents except `kept` and very new ones; return how many."""
        latest = time.time() - SETTLED_SEC
        removed = 0
        for path in self._folder.glob("??/*"):
            if not goes_on():
                break
            # One by one, so that nobody who stores a copy waits for long.
            with contextlib.suppress(FileNotFoundError), self._locked(fcntl.LOCK_EX):
                if path.parent.name + path.name not in kept and path.stat().st_mtime < latest:
                    path.unlink()
                    removed += 1
        return removed

    def flush(self) -> None:
        """Wait until everything is on disk."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_file_system(self._folder)

    def _put(self, temporary: Path, chunks: Iterable[bytes], *, waits: bool) -> str:
        descriptor = os.open(temporary, _CREATE_FLAGS, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            digest, size = hashlib.sha256(), 0
            for chunk in chunks:
                digest.update(chunk)
                size += file.write(chunk)
            path = self._path(digest.hexdigest())
            with self._locked(fcntl.LOCK_SH):
                if _is_kept(path, size):
                    return digest.hexdigest()
            file.flush()
            if waits:
                os.fsync(descriptor)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with self._locked(fcntl.LOCK_SH):
            temporary.replace(path)
        if waits:
            _sync(path.parent)
        return digest.hexdigest()

    @contextlib.contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        """Lock the folder, so that no process renews a content between the age check and the deletion."""
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, how)
            yield
        finally:
            os.close(descriptor)

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]


def _is_kept(path: Path, size: int) -> bool:
    """Return whether the whole content exists; if so, mark it as new for `prune`."""
    try:
        if path.stat().st_size != size:
            return False
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file_system(folder: Path) -> None:
    """Flush the file system of `folder`, or all file systems if syncfs is missing."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "syncfs"):
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if libc.syncfs(descriptor):
            raise StorageError(f"cannot save to {display_path(folder)}: {os.strerror(ctypes.get_errno())}")
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class TurnCopies:
    """The copies that undoing and redoing one turn needs."""

    session_id: str
    directory: str
    turn: int
    created: float
    contents: frozenset[str]


class CopyAges:
    def __init__(self, database: Database, claims: Claims) -> None:
        self._database = database
        self._claims = claims

    async def by_turn(self) -> tuple[TurnCopies, ...]:
        """Return the copies of all sessions' turns, newest first."""
        return await self._database.read(_copies_by_turn)

    async def are_open(self, session_ids: frozenset[str]) -> frozenset[str]:
        """Return the sessions that some process has open now."""
        return await self._database.read(
            lambda _: frozenset(session_id for session_id in session_ids if self._is_open(session_id))
        )

    def _is_open(self, session_id: str) -> bool:
        if self._claims.holds(session_id):
            return True
        is_free = self._claims.acquire(session_id)
        if is_free:
            self._claims.release(session_id)
        return not is_free


def _copies_by_turn(connection: sqlite3.Connection) -> tuple[TurnCopies, ...]:
    rows = connection.execute(
        "SELECT session_id, directory, turn, changes.created, before_content, after_content "
        "FROM changes JOIN sessions ON id = session_id"
    )
    found: dict[tuple[str, int], tuple[str, float, set[str]]] = {}
    for session_id, directory, turn, created, before, after in rows:
        _, newest, contents = found.get((session_id, turn), ("", 0.0, set[str]()))
        contents.update(content for content in (before, after) if content)
        found[session_id, turn] = (directory, max(newest, created), contents)
    turns = (
        TurnCopies(session_id, unpack_text(directory), turn, created, frozenset(contents))
        for (session_id, turn), (directory, created, contents) in found.items()
    )
    return tuple(sorted(turns, key=lambda each: each.created, reverse=True))
