"""Single hunks of a change can be refused before anything is written; the model learns which."""

import random
from pathlib import Path

import pytest

from coder_tui.diffs.compare import compare
from coder_tui.diffs.hunks import undo_hunks
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from coder_tui.tools.base import JsonObject
from tests.diffs.texts import random_edit, random_text
from tests.fakes.real_tools import RealTools, setup_in

OLD = "".join(f"{n}\n" for n in range(1, 31))
NEW = OLD.replace("2\n3\n", "2\nthree\n", 1).replace("25\n", "", 1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


def ids(request: ApprovalRequest, *places: int) -> tuple[str, ...]:
    """Return the hunks at these places from the top; a missing one gets an unknown id."""
    known = dict(enumerate(request.hunk_ids))
    return tuple(known.get(place, "unknown") for place in places)


def tools(project: Path, *refused: int, decision: Decision = Decision.ALLOW_ONCE) -> RealTools:
    def answer(request: ApprovalRequest) -> ApprovalReply:
        return ApprovalReply(decision, refused=ids(request, *refused))

    return RealTools(setup_in(project.parent, project, Mode.ASK), answer)


async def rewrite(project: Path, made: RealTools, content: str) -> JsonObject:
    await made.call("read", path="a.txt", limit=500)
    return await made.call("write", path="a.txt", content=content)


async def test_only_accepted_hunks_are_written_and_the_refused_ones_reported(project: Path) -> None:
    (project / "a.txt").write_text(OLD)
    made = tools(project, 0)
    result = await rewrite(project, made, NEW)

    assert (project / "a.txt").read_text() == OLD.replace("25\n", "", 1)
    assert [bool(request.files) for request in made.asked] == [True]
    assert (result["ok"], result["additions"], result["deletions"]) == (True, 0, 1)
    assert result["refused_hunks"] == [
        {
            "path": "a.txt",
            "start_line": 3,
            "end_line": 3,
            "diff": "@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n",
        }
    ]
    assert result["refused_by_user"].startswith("The user refused 1 of 2 hunks. Those were not written")


@pytest.mark.parametrize("decision", [Decision.ALLOW_ONCE, Decision.ALLOW_ALWAYS])
async def test_refusing_every_hunk_refuses_the_call(project: Path, decision: Decision) -> None:
    (project / "a.txt").write_text(OLD)
    result = await rewrite(project, tools(project, 0, 1, decision=decision), NEW)
    assert (result["ok"], result["error"]["type"]) == (False, "denied_by_user")
    assert (project / "a.txt").read_text() == OLD


async def test_an_unknown_hunk_is_an_error_and_nothing_is_written(project: Path) -> None:
    (project / "a.txt").write_text(OLD)
    result = await rewrite(project, tools(project, 7), NEW)
    assert (result["ok"], result["error"]["type"]) == (False, "internal")
    assert (project / "a.txt").read_text() == OLD


async def test_a_call_that_cannot_be_divided_is_refused_as_a_whole(project: Path) -> None:
    made = tools(project, 0)
    result = await made.call("bash", command="touch made")
    assert (result["error"]["type"], [bool(request.files) for request in made.asked]) == (
        "denied_by_user",
        [False],
    )
    assert not (project / "made").exists()


async def test_an_edit_in_many_places_leaves_out_some_byte_for_byte(project: Path) -> None:
    """Undecodable bytes show as replacement characters in the preview; CR LF stays as it is."""
    lines = [b"caf\xe9 old\r\n", *[b"same \xff\r\n"] * 10, b"old end\r\n", *[b"x\r\n"] * 10, b"old"]
    (project / "a.txt").write_bytes(b"".join(lines))
    made = tools(project, 0, 2)
    result = await made.call("edit", path="a.txt", old_string="old", new_string="new", replace_all=True)
    lines[11] = b"new end\r\n"
    assert (project / "a.txt").read_bytes() == b"".join(lines)
    assert [hunk["start_line"] for hunk in result["refused_hunks"]] == [1, 23]


PATCH = """diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/old.txt b/moved.txt
rename from old.txt
rename to moved.txt
--- a/old.txt
+++ b/moved.txt
@@ -1 +1 @@
-one
+two
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
-1
+one
 2
@@ -29,2 +29,2 @@
 29
-30
+thirty
"""


@pytest.fixture
def patched(project: Path) -> Path:
    for name, text in (("gone.txt", "gone\n"), ("old.txt", "one\n"), ("a.txt", OLD)):
        (project / name).write_text(text)
    return project


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


async def test_hunks_of_a_patch_are_counted_through_all_files(patched: Path) -> None:
    made = tools(patched, 0, 1, 2, 4)
    result = await made.call("patch", patch=PATCH)
    assert contents(patched) == {
        "a.txt": OLD.replace("1\n", "one\n", 1),
        "gone.txt": "gone\n",
        "moved.txt": "one\n",
    }
    assert [(hunk["path"], hunk["start_line"]) for hunk in result["refused_hunks"]] == [
        ("new.txt", 1),
        ("gone.txt", 1),
        ("moved.txt", 1),
        ("a.txt", 30),
    ]
    assert [file["path"] for file in result["files"]] == ["moved.txt", "a.txt"]
    (request,) = made.asked
    assert isinstance(request.preview, DiffBlock)
    assert request.files == parse_unified(request.preview.diff, request.preview.path)


async def test_the_envelope_leaves_out_refused_hunks_too(patched: Path) -> None:
    made = tools(patched, 1)
    update, delete = "*** Update File: a.txt\n@@\n-1\n+one\n 2\n", "*** Delete File: gone.txt\n"
    result = await made.call("apply_patch", patch=f"*** Begin Patch\n{update}{delete}*** End Patch\n")
    assert contents(patched) == {
        "a.txt": OLD.replace("1\n", "one\n", 1),
        "gone.txt": "gone\n",
        "old.txt": "one\n",
    }
    assert [hunk["path"] for hunk in result["refused_hunks"]] == ["gone.txt"]


async def test_a_file_that_changed_since_it_was_shown_is_left_alone(project: Path) -> None:
    (project / "a.txt").write_text(OLD)

    def answer(request: ApprovalRequest) -> ApprovalReply:
        (project / "a.txt").write_text("mine\n")
        return ApprovalReply(Decision.ALLOW_ONCE, refused=ids(request, 0))

    made = tools(project)
    made.answer = answer
    result = await rewrite(project, made, NEW)
    assert (result["error"]["type"], (project / "a.txt").read_text()) == ("stale_file", "mine\n")


@pytest.mark.parametrize("seed", range(12))
async def test_what_is_written_is_the_proposal_without_the_refused_hunks(project: Path, seed: int) -> None:
    chance = random.Random(seed)
    old = random_text(chance, 60).replace("\r", "").replace("\0", "") or "a\n"
    new = random_edit(chance, old).replace("\r", "").replace("\0", "")
    old, new = f"{old.rstrip()}\n", f"{new.rstrip()}\n"
    hunks = [hunk.id for hunk in compare(old, new).hunks]
    refused = [number for number in range(len(hunks)) if chance.random() < 0.5]
    if len(refused) == len(hunks):
        return
    (project / "a.txt").write_bytes(old.encode())
    await rewrite(project, tools(project, *refused), new)
    assert (project / "a.txt").read_bytes().decode() == undo_hunks(
        compare(old, new), [hunks[n] for n in refused]
    )
