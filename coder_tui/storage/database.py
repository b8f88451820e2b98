"""One SQLite connection on its own thread, so that writes are safely on disk and the loop never waits.

Also tells a damaged file from our own bugs, and counts what could not be read of a damaged session.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from coder_tui.config.paths import DATA_VARIABLE, display_path
from coder_tui.protocol.errors import StorageError
from coder_tui.storage.migrations import MIGRATIONS, Migration

Row = TypeVar("Row")
T = TypeVar("T")

MISREAD = (ValueError, TypeError, AttributeError, OverflowError)
"""How Python fails on a value of the wrong type in a column."""


_FAR = 1e11
"""Seconds since 1970 that no clock will show for thousands of years."""


def to_datetime(stamp: float) -> datetime:
    """Convert a timestamp; an impossible one becomes 1970."""
    return datetime.fromtimestamp(stamp if 0 <= stamp < _FAR else 0, UTC)


def decode_text(data: bytes) -> str:
    """Decode a column; damaged bytes become replacement characters."""
    return data.decode("utf-8", errors="replace")


def skip_unreadable(rows: Iterable[Row], read: Callable[[Row], T]) -> Iterator[T]:
    """Yield what `read` makes of each row, without unreadable rows."""
    for row in rows:
        try:
            yield read(row)
        except (StorageError, *MISREAD):
            continue


def read_all(rows: Iterable[Row], read: Callable[[Row], T]) -> Iterator[T]:
    """Yield what `read` makes of each row; raise `StorageError` if one is unreadable, as undo needs all."""
    for row in rows:
        try:
            yield read(row)
        except MISREAD as error:
            raise StorageError(
                f"the store contains a value that this program cannot read: {row!r:.80}"
            ) from error


@dataclass(frozen=True, slots=True)
class Damage:
    """What could not be read of a session: lost messages and calls, and messages with broken characters."""

    messages: int = 0
    calls: int = 0
    garbled: int = 0

    def __bool__(self) -> bool:
        return bool(self.messages or self.calls or self.garbled)

    def __str__(self) -> str:
        """Return a sentence for the user."""
        found = (
            (self.messages, "message", "lost"),
            (self.calls, "call", "lost"),
            (self.garbled, "message", "with unreadable characters"),
        )
        parts = (f"{count} {noun}{'' if count == 1 else 's'} {how}" for count, noun, how in found if count)
        return f"This session is damaged on disk: {', '.join(parts)}. The rest was loaded."


def is_damaged(connection: sqlite3.Connection, migrations: tuple[Migration, ...]) -> bool:
    """Return whether the file is damaged, so that an error is not our bug. Slow."""
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        _check_search(connection)
        return (
            _schema(connection) != _schema_of(migrations[:version])
            or connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",)
            or connection.execute("PRAGMA foreign_key_check").fetchone() is not None
        )
    except sqlite3.ProgrammingError:  # it is closed
        return False
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return True


def _check_search(connection: sqlite3.Connection) -> None:
    """Raise if a full-text index does not match its content; no other check covers these indexes."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%USING fts5%'").fetchall()
    for (name,) in found:
        connection.execute(f"INSERT INTO {name} ({name}, rank) VALUES ('integrity-check', 1)")


def _schema_of(migrations: tuple[Migration, ...]) -> frozenset[tuple[str, ...]]:
    model = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for statement in (each for migration in migrations for each in migration):
            model.execute(statement)
        return _schema(model)
    finally:
        model.close()


def _schema(connection: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    return frozenset(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


Work = Callable[[sqlite3.Connection], T]

_BUSY_TIMEOUT_SEC = 10
_BUSY_PAUSE_SEC = 0.01
_BUGS = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_MISUSE}
_WITHOUT_SEARCH = (
    "the SQLite of this Python has no full-text search (FTS5); run coder-tui with another Python"
)
_WAY_OUT = f"make it writable or set {DATA_VARIABLE} to another folder"


class Database:
    """Runs work in order, each as one transaction."""

    def __init__(
        self,
        path: Path,
        executor: ThreadPoolExecutor,
        connection: sqlite3.Connection,
        migrations: tuple[Migration, ...],
    ) -> None:
        self.path = path
        self._executor = executor
        self._connection = connection
        self._migrations = migrations
        self._is_closed = False

    @classmethod
    async def open(cls, path: Path, migrations: tuple[Migration, ...] = MIGRATIONS) -> "Database":
        """Open or create the database and migrate its schema; raise `StorageError` if that fails."""
        executor = ThreadPoolExecutor(1, thread_name_prefix="store")
        try:
            connection = await _on_thread(executor, lambda: _open(path, migrations))
        except BaseException:
            executor.shutdown(wait=False)
            raise
        return cls(path, executor, connection, migrations)

    async def write(self, work: Work[T]) -> T:
        """Do `work` completely or not at all; when this returns, it is on disk.

        The work is done even if the caller is cancelled.
        """
        return await self._run("BEGIN IMMEDIATE", work)

    async def execute(self, statement: str, values: tuple[str | float | None, ...]) -> None:
        """Run a single writing statement."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(statement, values)

        await self.write(work)

    async def read(self, work: Work[T]) -> T:
        """Do `work` on one consistent state of the data."""
        return await self._run("BEGIN", work)

    async def close(self) -> None:
        """Finish pending work, then close the file."""
        if self._is_closed:
            return
        self._is_closed = True
        await _on_thread(self._executor, self._connection.close)
        self._executor.shutdown(wait=False)

    async def _run(self, begin: str, work: Work[T]) -> T:
        if self._is_closed:
            raise StorageError(f"the store {display_path(self.path)} is closed")
        return await _on_thread(self._executor, lambda: self._transact(begin, work))

    def _transact(self, begin: str, work: Work[T]) -> T:
        def is_to_blame() -> bool:
            return is_damaged(self._connection, self._migrations)

        with _explained(self.path, is_to_blame), _transaction(self._connection, begin):
            return work(self._connection)


class Table:
    """A part of the store: the methods for one family of tables."""

    def __init__(self, database: Database) -> None:
        self._database = database


async def _on_thread(executor: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    # Shielded: cancelling an executor's future would drop work that is still queued.
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(executor, work))


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back after a full disk or an I/O error.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _open(path: Path, migrations: tuple[Migration, ...]) -> sqlite3.Connection:
    _prepare_file(path)
    with _explained(path, lambda: False):
        connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_SEC, isolation_level=None)
    connection.text_factory = decode_text
    try:
        with _explained(path, lambda: is_damaged(connection, migrations)):
            _check_version(connection, path, len(migrations))
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            _migrate(connection, path, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch the journal mode; if two processes try at once, SQLite fails one of them without waiting."""
    give_up = time.monotonic() + _BUSY_TIMEOUT_SEC
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(_BUSY_PAUSE_SEC)
        else:
            return


def _prepare_file(path: Path) -> None:
    """Create the file before SQLite does, readable only by the user; SQLite's side files inherit the mode."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _create_private(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"cannot create {display_path(path)}: {reason}; {_WAY_OUT}") from error


def _create_private(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        # Not through a file handle: closing one would drop the locks of a connection in this process.
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)


def _check_version(connection: sqlite3.Connection, path: Path, known: int) -> None:
    """Refuse a database that is not ours or too new, before writing to it."""
    version = _version(connection)
    if version > known:
        raise StorageError(
            f"{display_path(path)} was written by a newer coder-tui "
            f"(schema {version}, this version supports {known}); update coder-tui"
        )
    is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    # Another process may be creating it: then the version comes with the tables.
    if version == 0 and not is_empty and _version(connection) == 0:
        raise StorageError(
            f"{display_path(path)} is a database of another program; it was not changed. Move it away"
        )


def _migrate(connection: sqlite3.Connection, path: Path, migrations: tuple[Migration, ...]) -> None:
    for number, statements in enumerate(migrations, start=1):
        if _version(connection) >= number:
            continue
        with _transaction(connection, "BEGIN IMMEDIATE"):
            # Checked again: another process may have been faster.
            if _version(connection) < number:
                for statement in statements:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
    _check_version(connection, path, len(migrations))


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


@contextmanager
def _explained(path: Path, is_to_blame: Callable[[], bool]) -> Iterator[None]:
    """Turn failures of the disk or the file into a clear `StorageError`; a wrong statement stays a bug."""
    try:
        yield
    except MISREAD as error:
        if not is_to_blame():
            raise
        raise StorageError(_sentence(sqlite3.SQLITE_CORRUPT, str(error), display_path(path))) from error
    except sqlite3.DatabaseError as error:
        # The low byte is the primary code. Errors of the Python module have no code.
        kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if str(error).startswith("no such module"):
            raise StorageError(f"cannot use {display_path(path)}: {_WITHOUT_SEARCH}") from error
        if kind in _BUGS:
            if not is_to_blame():
                raise
            kind = sqlite3.SQLITE_CORRUPT
        raise StorageError(_sentence(kind, str(error), display_path(path))) from error


def _sentence(kind: int, reason: str, path: str) -> str:
    match kind:
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT:
            return f"{path} is damaged or not a database; it was not changed. Move it away to start afresh"
        case sqlite3.SQLITE_FULL:
            return f"cannot save to {path}: the disk is full; free some space. What was saved before is safe"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"cannot write to {path}: {reason}; {_WAY_OUT}"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"{path} is locked by another process; try again when it has finished"
        case _:
            return f"cannot use {path}: {reason}"
