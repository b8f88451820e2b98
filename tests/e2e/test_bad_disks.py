"""Problems with the store, from a full disk to another process, end in a clear sentence and an exit code."""

import sqlite3
import subprocess
from pathlib import Path

import pytest

from coder_tui.storage.migrations import MIGRATIONS
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PATIENCE, PLAIN, Program, json_lines
from tests.fakes.script import Reply

DAMAGED = "is damaged or not a database; it was not changed. Move it away to start afresh"
FULL = "the disk is full; free some space. What was saved before is safe"


def can_mount() -> bool:
    """Mounts of its own, which nobody else sees, need neither root nor a cleaner."""
    try:
        tried = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return tried.returncode == 0


needs_mounts = pytest.mark.skipif(not can_mount(), reason="needs unshare -rm: apt install util-linux")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    made = Program.in_folder(tmp_path, PLAIN)
    (made.home / "data").mkdir()
    return made


def database(program: Program) -> Path:
    return program.home / "data/sessions.db"


def run(program: Program, *arguments: str, mount: str = "") -> "subprocess.CompletedProcess[str]":
    """In the program's own data folder, on which `mount` may put something first."""
    data = str(program.home / "data")
    command = program.command(*(arguments or ("run", "-p", "hi", "--model", "demo")))
    if mount:
        command = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$@"', "sh", *command]
    done = subprocess.run(
        command,
        cwd=program.project,
        env=program.environment | {"CODER_TUI_DATA_DIR": data, "D": data},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


def sentence(done: "subprocess.CompletedProcess[str]") -> str:
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    return line.removeprefix("coder-tui: ")


@needs_mounts
def test_a_disk_that_is_full_at_the_start(program: Program) -> None:
    done = run(program, mount="mount -t tmpfs -o size=64k none $D")
    assert sentence(done) == f"cannot save to ~/data/sessions.db: {FULL}"


@needs_mounts
def test_a_disk_that_fills_up_in_a_turn_fails_that_turn_alone(program: Program) -> None:
    with OpenAIServer([Reply(text="w" * 2_000_000)]) as server:
        flags = ("--model", "openai/x", "--api-base", server.url, "--format", "stream-json")
        done = run(program, "run", "-p", "hi", *flags, mount="mount -t tmpfs -o size=1500k none $D")
    *_, result = json_lines(done.stdout)
    assert (done.returncode, result["outcome"]) == (1, "failed")
    assert result["message"] == f"cannot save to ~/data/sessions.db: {FULL}."
    assert result["hint"] == "The turn stopped there; earlier messages are safe."


@needs_mounts
def test_a_data_folder_that_is_read_only(program: Program) -> None:
    done = run(program, mount="mount --bind $D $D && mount -o remount,ro,bind $D")
    assert sentence(done) == (
        "cannot use the data directory ~/data: no permission to write; "
        "make it writable or set CODER_TUI_DATA_DIR to another folder"
    )


def test_a_store_that_another_process_has_locked(program: Program) -> None:
    assert run(program, "sessions", "list").returncode == 0
    with sqlite3.connect(database(program), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        done = run(program)
        other.execute("ROLLBACK")
    other.close()
    assert sentence(done) == "~/data/sessions.db is locked by another process; try again when it has finished"
    assert run(program).returncode == 0


def test_a_store_of_a_newer_version(program: Program) -> None:
    with sqlite3.connect(database(program)) as newer:
        newer.execute("CREATE TABLE future (x)")
        newer.execute("PRAGMA user_version = 999")
    newer.close()
    before = database(program).read_bytes()
    versions = f"schema 999, this version supports {len(MIGRATIONS)}"
    assert sentence(run(program)) == (
        f"~/data/sessions.db was written by a newer coder-tui ({versions}); update coder-tui"
    )
    assert database(program).read_bytes() == before


def test_a_damaged_store(program: Program) -> None:
    assert run(program, "sessions", "list").returncode == 0
    whole = database(program).read_bytes()
    torn = whole[: len(whole) // 2 + 100]
    database(program).write_bytes(torn)
    for arguments in ((), ("sessions", "list")):
        assert sentence(run(program, *arguments)) == f"~/data/sessions.db {DAMAGED}"
    assert database(program).read_bytes() == torn


def test_a_message_with_an_invalid_byte(program: Program) -> None:
    """The rest is there, and it is said what is not, however the session is looked at."""
    assert run(program, "run", "-p", "a heron is grey", "--model", "demo").returncode == 0
    with sqlite3.connect(database(program)) as connection:
        (session_id,) = connection.execute("SELECT id FROM sessions").fetchone()
    connection.close()
    stored = database(program).read_bytes()
    database(program).write_bytes(stored.replace(b'"a heron is grey"', b'"a her\xffn is grey"'))
    output = "This session is damaged on disk: 1 message with unreadable characters. The rest was loaded."
    for words in (("show", session_id), ("export", session_id, "--format", "jsonl")):
        shown = run(program, "sessions", *words)
        assert (shown.returncode, shown.stderr) == (0, f"coder-tui: {output}\n")
        assert "n is grey" in shown.stdout
    again = run(program, "run", "-p", "go on", "--model", "demo", "--continue")
    assert again.returncode == 0
    assert output in again.stderr
