"""The benchmark's candidate answers cases through the real runner."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.edit_accuracy import answer, scratch_setup

EDIT = {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2", "replace_all": False}
MOVE = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"


@pytest.mark.parametrize(
    ("kind", "args", "files"),
    [
        ("edit", EDIT, {"a.py": "\ufeffx = 2\r\n"}),
        ("patch", {"patch": "--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x = 1\n"}, {"a.py": None}),
        ("apply_patch", {"patch": MOVE}, {"a.py": None, "b.py": "\ufeffx = 2\r\n"}),
    ],
)
async def test_changed_files_are_returned_as_they_are(
    tmp_path: Path, kind: str, args: dict[str, object], files: dict[str, str | None]
) -> None:
    setup = replace(scratch_setup(tmp_path), directory=tmp_path / "case")
    case = {"id": "1", "kind": kind, "files": {"a.py": "\ufeffx = 1\r\n"}, "args": args}

    assert await answer(setup, case) == {"ok": True, "files": files}


async def test_a_refusal_is_returned_with_its_error(tmp_path: Path) -> None:
    setup = replace(scratch_setup(tmp_path), directory=tmp_path / "case")
    case = {"id": "1", "kind": "edit", "files": {"a.py": "y\n"}, "args": EDIT}

    result = await answer(setup, case)

    assert (result["ok"], result["error"]["type"]) == (False, "no_match")
