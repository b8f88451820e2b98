"""Half-written files of a killed program are removed at the next start, and nothing else."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.half_written import Leftovers, temporary_name

_WRITER = """
import sys, time
from pathlib import Path
from coder_tui.storage.half_written import Leftovers, temporary_name

path = Path(sys.argv[2]) / temporary_name()
with Leftovers(Path(sys.argv[1])).making(path):
    path.write_text("half")
    print(path, flush=True)
    time.sleep(600)
"""


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def writer(notes: Path, folder: Path) -> "subprocess.Popen[str]":
    """A process in the middle of a write."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(notes), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


def kill(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / temporary_name()).write_text("of another machine")
    return folder


def test_only_files_of_dead_processes_are_removed(tmp_path: Path, folder: Path) -> None:
    notes = tmp_path / "notes"
    before = names(folder)
    dead, living = writer(notes, folder), writer(notes, folder)
    kill(dead)

    Leftovers(notes).sweep()
    while_one_lives = len(names(folder))
    kill(living)
    Leftovers(notes).sweep()

    assert (while_one_lives, names(folder), names(notes)) == (len(before) + 1, before, [])


def test_the_notes_are_private_and_empty_between_writes(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    leftovers = Leftovers(notes)
    path = tmp_path / temporary_name()

    with leftovers.making(path):
        (noted,) = notes.glob("*.paths")
        during = noted.read_bytes()
    modes = [stat.S_IMODE(item.stat().st_mode) for item in (notes, noted)]
    after = noted.read_bytes()
    leftovers.close()

    assert (during, after, modes) == (os.fsencode(path) + b"\0", b"", [0o700, 0o600])
    assert names(notes) == []


def test_a_note_of_something_else_removes_nothing(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    precious, folder, link = (
        tmp_path / "precious.txt",
        tmp_path / temporary_name(),
        tmp_path / temporary_name(),
    )
    precious.write_text("x")
    folder.mkdir()
    link.symlink_to(precious)
    (notes / "dead.paths").write_bytes(os.fsencode("\0".join(map(str, [precious, folder, link, "torn"]))))

    Leftovers(notes).sweep()

    assert (precious.read_text(), names(tmp_path)) == ("x", sorted([folder.name, "notes", "precious.txt"]))
    assert names(notes) == []


def test_a_write_that_cannot_be_listed_is_not_started(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("a file in the way")
    began = False

    with pytest.raises(StorageError), Leftovers(tmp_path / "notes").making(tmp_path / temporary_name()):
        began = True

    assert not began
