"""One writer for each session."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.half_written import Claims

_HOLDER = """
import sys
from pathlib import Path
from coder_tui.storage.half_written import Claims
print(Claims(Path(sys.argv[1])).acquire("s"), flush=True)
sys.stdin.read()
"""


def _holder(folder: Path) -> "subprocess.Popen[str]":
    root = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )


def test_another_process_holds_a_claim_until_it_is_killed(tmp_path: Path) -> None:
    with _holder(tmp_path) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "True\n"
        claims = Claims(tmp_path)
        assert (claims.acquire("s"), claims.acquire("other")) == (False, True)
        assert claims.held_elsewhere() == {"s"}
        holder.kill()
        holder.wait()
        assert claims.held_elsewhere() == frozenset()
        assert claims.acquire("s")
        claims.release_all()


def test_a_claim_is_exclusive_inside_one_process_and_taking_it_twice_is_harmless(tmp_path: Path) -> None:
    first, second = Claims(tmp_path), Claims(tmp_path)
    assert [first.acquire("s"), first.acquire("s"), second.acquire("s")] == [True, True, False]
    first.release("s")
    assert second.acquire("s")
    second.release_all()


def test_releasing_leaves_no_file_and_may_be_done_twice(tmp_path: Path) -> None:
    claims = Claims(tmp_path / "locks")
    claims.acquire("s")
    claims.release("s")
    claims.release("s")
    assert list((tmp_path / "locks").iterdir()) == []


def test_an_unusable_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as caught:
        Claims(tmp_path / "file/locks").acquire("s")
    assert str(caught.value) == f"cannot lock {tmp_path}/file/locks/s.lock: Not a directory"
