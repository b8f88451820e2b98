"""Opening, refusing and migrating a database, and failures of the disk."""

import asyncio
import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.database import Database
from coder_tui.storage.migrations import MIGRATIONS


async def _refusal(path: Path) -> str:
    with pytest.raises(StorageError) as caught:
        await Database.open(path)
    return str(caught.value)


async def test_a_new_store_is_durable_private_and_of_the_newest_version(tmp_path: Path) -> None:
    path = tmp_path / "data/store.db"
    database = await Database.open(path)

    def pragmas(connection: sqlite3.Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "user_version")
        return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    assert await database.read(pragmas) == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 10_000,
        "user_version": len(MIGRATIONS),
    }
    modes = {item.name: stat.S_IMODE(item.stat().st_mode) for item in path.parent.iterdir()}
    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await database.close()


async def test_a_store_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch(0o644)
    database = await Database.open(path)
    await database.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_migrations_run_from_version_0_and_each_only_once(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    first = (("CREATE TABLE a (x)", "INSERT INTO a VALUES (1)"),)
    second = (*first, ("ALTER TABLE a ADD COLUMN y DEFAULT 2", "INSERT INTO a VALUES (3, 4)"))
    for migrations in (first, second, second):
        database = await Database.open(path, migrations)
        await database.close()
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT * FROM a").fetchall()
        version = connection.execute("PRAGMA user_version").fetchone()
    assert (rows, version) == ([(1, 2), (3, 4)], (2,))


async def test_a_migration_that_fails_leaves_the_version_before_it(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with pytest.raises(sqlite3.OperationalError):
        await Database.open(path, (("CREATE TABLE a (x)",), ("CREATE TABLE b (x)", "nonsense")))
    with sqlite3.connect(path) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        version = connection.execute("PRAGMA user_version").fetchone()
    assert (tables, version) == ([("a",)], (1,))


async def test_a_newer_version_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE future (x)")
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    assert await _refusal(path) == (
        f"{path} was written by a newer coder-tui (schema 99, this version supports {len(MIGRATIONS)}); "
        "update coder-tui"
    )
    assert path.read_bytes() == before


async def test_a_database_of_another_program_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    assert await _refusal(path) == (
        f"{path} is a database of another program; it was not changed. Move it away"
    )
    assert path.read_bytes() == before


async def test_a_file_that_is_no_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"not a database at all" * 100)
    assert await _refusal(path) == (
        f"{path} is damaged or not a database; it was not changed. Move it away to start afresh"
    )
    assert path.read_bytes() == b"not a database at all" * 100


async def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    await (await Database.open(path)).close()
    data = bytearray(path.read_bytes())
    data[100:4096] = b"\xff" * 3996
    path.write_bytes(data)
    assert (await _refusal(path)).startswith(f"{path} is damaged or not a database")


async def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = tmp_path / "file/store.db"
    assert await _refusal(path) == (
        f"cannot create {path}: File exists; make it writable or set CODER_TUI_DATA_DIR to another folder"
    )


async def test_a_folder_in_place_of_the_file_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.mkdir(0o700)
    assert await _refusal(path) == (
        f"cannot write to {path}: unable to open database file; "
        "make it writable or set CODER_TUI_DATA_DIR to another folder"
    )


async def _with_table(path: Path) -> Database:
    return await Database.open(path, (("CREATE TABLE a (x UNIQUE)",),))


def _insert(value: object) -> Callable[[sqlite3.Connection], None]:
    return lambda connection: connection.execute("INSERT INTO a VALUES (?)", (value,)).close()


def _rows(connection: sqlite3.Connection) -> list[object]:
    return [row[0] for row in connection.execute("SELECT x FROM a ORDER BY rowid")]


async def test_a_full_disk_is_one_sentence_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = await _with_table(path)
    await database.write(_insert("first"))
    await database.read(lambda connection: connection.execute("PRAGMA max_page_count = 1").close())
    with pytest.raises(StorageError) as caught:
        await database.write(_insert("x" * 100_000))
    assert str(caught.value) == (
        f"cannot save to {path}: the disk is full; free some space. What was saved before is safe"
    )
    await database.read(lambda connection: connection.execute("PRAGMA max_page_count = 1000").close())
    await database.write(_insert("second"))
    assert await database.read(_rows) == ["first", "second"]
    await database.close()


async def test_a_store_that_became_read_only_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = await _with_table(path)
    await database.read(lambda connection: connection.execute("PRAGMA query_only = ON").close())
    with pytest.raises(StorageError) as caught:
        await database.write(_insert(1))
    assert str(caught.value) == (
        f"cannot write to {path}: attempt to write a readonly database; "
        "make it writable or set CODER_TUI_DATA_DIR to another folder"
    )
    await database.close()


async def test_work_that_fails_is_undone_whole_and_a_bug_stays_a_bug(tmp_path: Path) -> None:
    database = await _with_table(tmp_path / "store.db")

    def twice(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO a VALUES (1)")
        connection.execute("INSERT INTO a VALUES (1)")

    with pytest.raises(sqlite3.IntegrityError):
        await database.write(twice)
    with pytest.raises(sqlite3.OperationalError):
        await database.write(lambda connection: connection.execute("nonsense").close())
    assert await database.read(_rows) == []
    await database.close()


async def test_a_cancelled_caller_does_not_stop_a_write_that_waits_its_turn(tmp_path: Path) -> None:
    database = await _with_table(tmp_path / "store.db")
    gate = threading.Event()
    blocker = asyncio.create_task(database.read(lambda _: gate.wait()))
    writer = asyncio.create_task(database.write(_insert("kept")))
    await asyncio.sleep(0)
    writer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writer
    gate.set()
    await blocker
    assert await database.read(_rows) == ["kept"]
    await database.close()


async def test_closing_finishes_what_was_asked_for_and_then_refuses(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    database = await _with_table(path)
    writes = [asyncio.create_task(database.write(_insert(number))) for number in range(20)]
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    await asyncio.gather(*writes)
    with sqlite3.connect(path) as connection:
        assert _rows(connection) == list(range(20))
    with pytest.raises(StorageError, match="is closed"):
        await database.read(_rows)


async def test_a_sqlite_without_full_text_search_is_one_sentence(tmp_path: Path) -> None:
    lacking = ("CREATE VIRTUAL TABLE words USING missing (text)",)
    with pytest.raises(StorageError) as caught:
        await Database.open(tmp_path / "store.db", (lacking,))
    assert str(caught.value) == (
        f"cannot use {tmp_path / 'store.db'}: the SQLite of this Python has no full-text search (FTS5); "
        "run coder-tui with another Python"
    )
