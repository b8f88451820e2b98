"""What is said when a session is left."""

from pathlib import Path

import pytest

from coder_tui.agent.exit_summary import MOST_FILES, exit_summary
from coder_tui.workspace.undo.changed_files import ChangedFile

FOLDER = Path("/srv/project")


async def test_it_names_the_session_its_files_its_cost_and_the_way_back() -> None:
    files = (
        ChangedFile(FOLDER / "calc.py", 1, b"one\ntwo\n", b"one\n2\n3\n"),
        ChangedFile(FOLDER / "new\x1b.py", 1, None, b"a\n"),
        ChangedFile(FOLDER / "old.py", 1, b"a\n", None),
        ChangedFile(Path("/etc/big"), 1, None, None, is_too_large=True),
    )
    assert await exit_summary(
        "make \x1b[31mit safe", files, FOLDER, "check passed: pytest", 0.371, "s1"
    ) == "\n".join(
        [
            "make ␛[31mit safe",
            "4 files changed  +3 -2",
            "  M calc.py  +2 -1",
            "  A new␛.py  +1 -0",
            "  D old.py  +0 -1",
            "  M /etc/big  +0 -0",
            "check passed: pytest",
            "$0.37",
            "coder-tui --resume s1 /srv/project",
        ]
    )


async def test_what_is_not_known_or_not_there_is_left_out() -> None:
    said = "talk\ncoder-tui --resume s1 /srv/project"
    assert await exit_summary("talk", (), FOLDER, "", None, "s1") == said


async def test_the_way_back_names_the_folder_unless_the_user_stands_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my project"
    folder.mkdir()
    assert (await exit_summary("talk", (), folder, "", None, "s1")).endswith(f"--resume s1 '{folder}'")
    monkeypatch.chdir(folder)
    assert (await exit_summary("talk", (), folder, "", None, "s1")).endswith("--resume s1")


async def test_many_files_are_counted_and_not_all_listed() -> None:
    files = tuple(ChangedFile(FOLDER / f"{number}", 1, None, b"x\n") for number in range(MOST_FILES + 3))
    said = (await exit_summary("work", files, FOLDER, "", None, "s1")).split("\n")
    assert (said[1], said[-2]) == ("11 files changed  +11 -0", "  and 3 more")
