"""What a disk did to the store: told apart from our own mistakes, and counted where the rest is whole."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.migrations import Migration

Row = TypeVar("Row")
T = TypeVar("T")

MISREAD = (ValueError, TypeError, AttributeError, OverflowError)
"""How Python fails on a value that is not of the kind that its column holds."""


_FAR = 1e11
"""Seconds that no clock shows for some thousand years."""


def moment(stamp: float) -> datetime:
    """When something was; the beginning of time where nobody can tell."""
    return datetime.fromtimestamp(stamp if 0 <= stamp < _FAR else 0, UTC)


def decoded(data: bytes) -> str:
    """Text of a column; bytes that are no text any more show as such, and cost nothing else."""
    return data.decode("utf-8", errors="replace")


def readable(rows: Iterable[Row], read: Callable[[Row], T]) -> Iterator[T]:
    """What can be made of each row; one that cannot be read is left out."""
    for row in rows:
        try:
            yield read(row)
        except (StorageError, *MISREAD):
            continue


def whole(rows: Iterable[Row], read: Callable[[Row], T]) -> Iterator[T]:
    """What can be made of all rows, for whoever would do harm without one of them."""
    for row in rows:
        try:
            yield read(row)
        except MISREAD as error:
            raise StorageError(f"the store holds something this program cannot read: {row!r:.80}") from error


@dataclass(frozen=True, slots=True)
class Damage:
    """What of a session could not be read: left out, or with signs in place of some characters."""

    messages: int = 0
    calls: int = 0
    garbled: int = 0

    def __bool__(self) -> bool:
        return bool(self.messages or self.calls or self.garbled)

    def __str__(self) -> str:
        """A sentence for the person."""
        found = (
            (self.messages, "message", "lost"),
            (self.calls, "call", "lost"),
            (self.garbled, "message", "with characters that cannot be read"),
        )
        parts = (f"{count} {noun}{'' if count == 1 else 's'} {how}" for count, noun, how in found if count)
        return f"This session is damaged on disk: {', '.join(parts)}. The rest is here."


def is_damaged(connection: sqlite3.Connection, migrations: tuple[Migration, ...]) -> bool:
    """Whether the file is to blame for an error: it is not as this program makes it. Takes its time."""
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
    """Raises where an index of words does not fit what it is made of: no other check looks into those."""
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
