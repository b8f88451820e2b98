"""Copies made before a command stay complete although files, folders and disks misbehave."""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coder_tui.workspace.undo.tree_copies import Packs, TreeCopies
from coder_tui.workspace.undo.tree_survey import TOO_LARGE, SurveyLimits, survey

LIMITS = SurveyLimits(most_files=1000, largest_bytes=1000)
LOOK = (
    "import sys; from pathlib import Path\n"
    "from coder_tui.workspace.undo.tree_copies import TreeCopies\n"
    "from coder_tui.workspace.undo.tree_survey import SurveyLimits\n"
    "copies = TreeCopies(Path(sys.argv[1]), (Path(sys.argv[2]),), SurveyLimits())\n"
    "before = copies.take_baseline(sys.argv[3:], frozenset())\n"
    "print(sorted(Path(path).name for path in before.survey.uncovered))\n"
    "Path(sys.argv[2], 'open').chmod(0o600)\n"
    "print([Path(path).name for path in copies.touched(before).paths])\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "open").mkdir(parents=True)
    (folder / "open" / "inner.txt").write_text("inner\n")
    (folder / "a.txt").write_text("a\n")
    return folder


def settle(*paths: Path) -> None:
    """Wait until the system's clock, which nobody can set for a file, has advanced."""
    newest = max(path.stat().st_ctime_ns for path in paths)
    while time.time_ns() < newest + 100_000_000:
        os.sched_yield()


def test_a_folder_that_became_a_link_to_itself_hides_no_other_change(tmp_path: Path, root: Path) -> None:
    copies = TreeCopies(tmp_path / "copies", (root,), LIMITS)
    before = copies.take_baseline((), frozenset())
    (root / "a.txt").write_text("changed\n")
    shutil.rmtree(root / "open")
    (root / "open").symlink_to("open")

    touched = copies.touched(before).paths

    assert touched == tuple(str(root / name) for name in ("a.txt", "open", "open/inner.txt"))


def test_an_unreadable_folder_is_reported_and_breaks_nothing(tmp_path: Path, root: Path) -> None:
    (root / "closed").mkdir()
    (root / "closed" / "hidden.txt").write_text("hidden\n")
    (root / "closed").chmod(0o600)
    # Root may do everything; in a namespace without a map it may do only what an owner may.
    anybody = ["unshare", "--user"] if os.geteuid() == 0 else []
    if anybody and subprocess.run([*anybody, "true"], capture_output=True, check=False).returncode:
        pytest.skip("as root this needs user namespaces: sysctl kernel.unprivileged_userns_clone=1")
    places = map(str, (tmp_path / "copies", root, root / "closed" / "hidden.txt"))
    code = [*anybody, sys.executable, "-c", LOOK, *places]

    done = subprocess.run(code, capture_output=True, text=True, check=False)

    assert done.stdout.splitlines() == ["['hidden.txt']", "['open', 'inner.txt']"], done.stderr


def test_a_copy_that_did_not_fit_spoils_none_after_it(tmp_path: Path) -> None:
    packs = Packs(tmp_path)
    writer = packs.writer()
    first = writer.add(b"1" * 60)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            writer.add(b"2" * 60)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    third = writer.add(b"3" * 20)
    writer.close()

    held = {place.offset: (tmp_path / place.pack).read_bytes()[place.offset :] for place in (first, third)}

    assert held[first.offset][:60] == b"1" * 60
    assert held[third.offset][:20] == b"3" * 20


def test_a_pack_that_was_cut_off_is_not_relied_on(tmp_path: Path, root: Path) -> None:
    settle(root / "a.txt", root / "open" / "inner.txt")
    folder = tmp_path / "copies"
    TreeCopies(folder, (root,), LIMITS).take_baseline((), frozenset())
    for pack in folder.glob("*.pack"):
        os.truncate(pack, 1)

    later = TreeCopies(folder, (root,), LIMITS)
    before = later.take_baseline((), frozenset())

    held = {Path(path).name: later.read(content) for path, content in before.contents.items()}
    assert held == {"a.txt": b"a\n", "inner.txt": b"inner\n"}


def test_a_huge_file_that_git_tracks_is_not_read(tmp_path: Path, root: Path) -> None:
    huge = root / "huge.bin"
    huge.write_bytes(b"")
    os.truncate(huge, 50_000_000_000)

    before = TreeCopies(tmp_path / "copies", (root,), LIMITS).take_baseline((str(huge),), frozenset())

    assert before.survey.uncovered == {str(huge): TOO_LARGE}
    assert str(huge) not in before.contents


def test_a_command_can_run_though_no_copy_can_be_kept(tmp_path: Path, root: Path) -> None:
    (tmp_path / "file").write_text("")

    before = TreeCopies(tmp_path / "file" / "copies", (root,), LIMITS).take_baseline((), frozenset())

    assert before.contents == {}
    assert set(before.survey.marks) == set(survey((root,), LIMITS).marks)
    assert set(before.survey.uncovered.values()) == {"no copy could be stored"}
