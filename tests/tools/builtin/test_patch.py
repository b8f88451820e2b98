"""`patch` applies a unified diff to all its files, or to none."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest
from unidiff.patch import PatchSet

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from tests.tools.calling import Bench
from tests.tools.patching import hunk, patch_bench, tree

TEXT = "".join(f"line {number}\n" for number in range(1, 31))
CHANGE = """\
--- a/a.txt
+++ b/a.txt
@@ -9,5 +9,6 @@
 line 9
 line 10
-line 11
+line eleven
+and more
 line 12
 line 13
"""
CHANGED = TEXT.replace("line 11\n", "line eleven\nand more\n")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return patch_bench(tmp_path / "ws")


async def patched(bench: Bench, before: str | bytes, patch: str) -> str:
    path = bench.put("a.txt", before)
    await bench.call("patch", patch=patch)
    return path.read_bytes().decode()


async def failed(bench: Bench, patch: str, **more: object) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await bench.call("patch", patch=patch, **more)
    return caught.value


async def test_the_report_names_files_and_hunks(bench: Bench) -> None:
    path = bench.put("a.txt", TEXT)

    result = await bench.result("patch", patch=CHANGE)

    assert result.for_model == {
        "ok": True,
        "applied": True,
        "files": [
            {"path": "a.txt", "operation": "modify", "additions": 2, "deletions": 1, "hunks": [hunk(1, 9)]}
        ],
    }
    assert (result.summary, result.changed_paths) == ("a.txt +2 -1", ("a.txt",))
    assert path.read_text() == CHANGED


async def test_a_dry_run_reports_the_same_and_writes_nothing(bench: Bench) -> None:
    bench.put("a.txt", TEXT)
    arguments = {"patch": CHANGE, "dry_run": True}

    access = await bench.access("patch", **arguments)
    result = await bench.call("patch", **arguments)

    assert access.targets == (Target(TargetKind.PATH, str(bench.root / "a.txt"), writes=False),)
    assert (result["applied"], result["files"][0]["hunks"]) == (False, [hunk(1, 9)])
    assert tree(bench.root) == {"a.txt": TEXT.encode()}


GIT = """\
diff --git a/old.txt b/new/name.txt
similarity index 66%
rename from old.txt
rename to new/name.txt
index 1111111..2222222 100644
--- a/old.txt
+++ b/new/name.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
index 1111111..0000000
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-good
-bye
diff --git a/run.sh b/run.sh
new file mode 100755
index 0000000..2222222
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+echo hi
diff --git a/tool b/tool
old mode 100644
new mode 100755
"""


async def test_create_delete_rename_and_mode_in_one_patch(bench: Bench) -> None:
    bench.put("old.txt", "one\ntwo\nthree\n")
    bench.put("gone.txt", "good\nbye\n")
    bench.put("tool", "x\n").chmod(0o640)

    access = await bench.access("patch", patch=GIT)
    result = await bench.call("patch", patch=GIT)

    assert [(file["path"], file["operation"]) for file in result["files"]] == [
        ("new/name.txt", "rename"),
        ("gone.txt", "delete"),
        ("run.sh", "create"),
        ("tool", "modify"),
    ]
    assert tree(bench.root) == {
        "new/name.txt": b"one\n2\nthree\n",
        "run.sh": b"echo hi\n",
        "tool": b"x\n",
    }
    modes = {name: stat.S_IMODE((bench.root / name).stat().st_mode) for name in ("run.sh", "tool")}
    assert modes == {"run.sh": 0o755, "tool": 0o750}
    named = {Path(target.value).name for target in access.targets}
    assert named == {"old.txt", "name.txt", "gone.txt", "run.sh", "tool"}
    assert isinstance(access.preview, DiffBlock)
    assert (access.preview.path, access.preview.additions, access.preview.deletions) == ("4 files", 2, 3)


async def test_the_preview_is_a_patch_that_others_can_read(bench: Bench) -> None:
    bench.put("a.txt", TEXT)
    bench.put("gone.txt", "good\nbye\n")
    second = "--- a/gone.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-good\n-bye\n"

    access = await bench.access("patch", patch=CHANGE + second)

    assert isinstance(access.preview, DiffBlock)
    files = PatchSet(access.preview.diff)
    assert [(file.path, file.added, file.removed) for file in files] == [("a.txt", 2, 1), ("gone.txt", 0, 2)]


async def test_one_failing_hunk_leaves_every_file_untouched(bench: Bench) -> None:
    bench.put("a.txt", TEXT)
    bench.put("b.txt", "one\ntwo\n")
    second = "--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n one\n-three\n+four\n"

    error = await failed(bench, CHANGE + second)

    assert error.type is ErrorType.CONTEXT_MISMATCH
    assert error.message == (
        "b.txt: hunk 1 of 1 cannot be applied: The nearest place is lines 1-2, 62% similar; "
        "line 2 differs first: looked for 'three', the file has 'two'."
    )
    files: Any = error.fields["files"]
    assert [[each["ok"] for each in file["hunks"]] for file in files] == [[True], [False]]
    assert tree(bench.root) == {"a.txt": TEXT.encode(), "b.txt": b"one\ntwo\n"}


def changed_header(header: str) -> str:
    return CHANGE.replace("@@ -9,5 +9,6 @@", header)


@pytest.mark.parametrize(
    "patch",
    [
        changed_header("@@ -21,5 +21,6 @@"),
        changed_header("@@ -9,9 +9,2 @@"),
        changed_header("@@ -1,5 +1,6 @@"),
        changed_header("@@"),
        changed_header("@@ ... @@"),
        changed_header("@@ -9,5 +9,6 @@ def heading():"),
        CHANGE.replace("a/a.txt", "a.txt").replace("b/a.txt", "a.txt"),
        CHANGE.replace("a/a.txt", "a/a.txt\t2020-01-01 10:00:00.000 +0000"),
        CHANGE.replace("--- a/a.txt\n", ""),
        CHANGE.replace("\n", "\r\n"),
        f"Here it is:\n\n```diff\n{CHANGE}```\n\nThat should do.\n",
        f"Here it is:\n\n{CHANGE}\nThat should do.\n",
        CHANGE.replace("\n line", "\nline"),
        f"{CHANGE}-- \n2.40.1\n",
        CHANGE.replace("\n line", "\n     line").replace("-line", "-    line").replace("+", "+    ")
        .replace("+    ++ ", "+++ ").replace("+    9,6", "+9,6").replace("+    +    +     ", "+++ "),
    ],
    ids=[
        "number off", "counts off", "number one", "bare", "dots", "heading", "no prefix", "date", "one name",
        "returns", "fence and prose", "prose", "no signs", "signature", "indented",
    ],
)  # fmt: skip
async def test_what_models_get_wrong_does_not_matter(bench: Bench, patch: str) -> None:
    assert await patched(bench, TEXT, patch) == CHANGED


async def test_a_file_keeps_its_line_ends_and_bom(bench: Bench) -> None:
    before = "\ufeff" + TEXT.replace("\n", "\r\n")

    assert await patched(bench, before, CHANGE) == "\ufeff" + CHANGED.replace("\n", "\r\n")


async def test_hunks_may_be_out_of_order_and_the_file_may_have_moved(bench: Bench) -> None:
    first = "@@ -25,3 +25,3 @@\n line 25\n-line 26\n+twenty-six\n line 27\n"
    patch = "--- a/a.txt\n+++ b/a.txt\n" + first + CHANGE.split("\n", 2)[2]
    bench.put("a.txt", "new\n" * 7 + TEXT)

    result = await bench.call("patch", patch=patch)

    assert result["files"][0]["hunks"] == [hunk(1, 32, offset=7), hunk(2, 16, offset=7)]
    assert (bench.root / "a.txt").read_text() == "new\n" * 7 + CHANGED.replace("line 26", "twenty-six")


@pytest.mark.parametrize(
    ("before", "patch", "after"),
    [
        (
            "a\nb",
            "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
            "a\nc",
        ),
        ("a\nb", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        ("a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        ("a\nb", "@@ -1,2 +1,3 @@\n a\n-b\n+b2\n+c\n", "a\nb2\nc"),
        ("a\nb", "@@ -1,2 +1,1 @@\n a\n-b\n", "a"),
    ],
    ids=["kept", "gained", "lost", "not mentioned", "removed"],
)
async def test_the_last_newline_is_as_the_patch_says_or_as_it_was(
    bench: Bench, before: str, patch: str, after: str
) -> None:
    assert await patched(bench, before, "--- a/a.txt\n+++ b/a.txt\n" + patch) == after


async def test_a_patch_made_before_is_not_made_again(bench: Bench) -> None:
    bench.put("a.txt", CHANGED)

    error = await failed(bench, CHANGE)

    assert (error.type, error.hint) == (
        ErrorType.ALREADY_APPLIED,
        "Nothing was written. Leave this hunk out: it may already be applied.",
    )
    assert tree(bench.root) == {"a.txt": CHANGED.encode()}


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ("", ErrorType.INVALID_TOOL_PARAMS),
        ("no diff at all", ErrorType.INVALID_TOOL_PARAMS),
        (CHANGE.replace("a.txt", "missing.txt"), ErrorType.FILE_NOT_FOUND),
        (CHANGE.replace("a.txt", "folder"), ErrorType.NOT_A_FILE),
        (CHANGE.replace("a.txt", "data.bin"), ErrorType.BINARY_FILE),
        ("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n", ErrorType.ALREADY_EXISTS),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -5,0 +6 @@\n+x\n", ErrorType.CONTEXT_MISMATCH),
        ("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n line 1\n", ErrorType.INVALID_TOOL_PARAMS),
        ("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-line 1\n", ErrorType.CONTEXT_MISMATCH),
        ("diff --git a/a.txt b/b.bin\nGIT binary patch\n", ErrorType.INVALID_TOOL_PARAMS),
        ("diff --git a/l b/l\nnew file mode 120000\n", ErrorType.INVALID_TOOL_PARAMS),
        (CHANGE + CHANGE.replace("+++ b/a.txt", "+++ /dev/null"), ErrorType.INVALID_TOOL_PARAMS),
        ("diff --git a/a.txt b/c.txt\nrename from a.txt\nrename to c.txt\n", ErrorType.ALREADY_EXISTS),
    ],
)  # fmt: skip
async def test_bad_patches_say_why_and_change_nothing(bench: Bench, patch: str, kind: ErrorType) -> None:
    bench.put("a.txt", TEXT)
    bench.put("c.txt", "c\n")
    bench.put("folder/x", "x")
    bench.put("data.bin", b"\0")
    before = tree(bench.root)

    assert (await failed(bench, patch)).type is kind
    assert tree(bench.root) == before


async def test_a_path_through_a_link_out_is_denied_and_no_file_changes(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.txt").write_text(TEXT)
    bench.put("a.txt", TEXT)
    (bench.root / "link").symlink_to(tmp_path / "outside")

    error = await failed(bench, CHANGE + CHANGE.replace("a.txt", "link/b.txt"))

    assert error.type is ErrorType.PERMISSION_DENIED
    assert tree(tmp_path / "outside") == {"b.txt": TEXT.encode()}
    assert (bench.root / "a.txt").read_text() == TEXT


async def test_an_outside_path_is_declared_and_nothing_is_revealed(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hunter2\n")

    access = await bench.access(
        "patch", patch=CHANGE.replace("a/a.txt", "a/../secret.txt").replace("b/a.txt", "b/../secret.txt")
    )

    assert access.targets == (Target(TargetKind.PATH, str(tmp_path / "secret.txt"), writes=True),)
    assert access.preview == TextBlock("This change cannot be made.")


async def test_a_file_changed_between_approval_and_patch_is_refused(bench: Bench) -> None:
    path = bench.put("a.txt", TEXT)
    access = await bench.access("patch", patch=CHANGE)
    path.write_text(TEXT + "more\n")

    with pytest.raises(ToolError) as caught:
        await bench.run("patch", access, patch=CHANGE)

    assert (caught.value.type, path.read_text()) == (ErrorType.STALE_FILE, TEXT + "more\n")


async def test_a_file_changed_since_it_was_read_is_patched_only_where_it_matches_exactly(
    bench: Bench,
) -> None:
    path = bench.put("a.txt", TEXT)
    await bench.call("read", path="a.txt")
    path.write_text(TEXT.replace("line 9\n", "line 9  \n"))

    assert (await failed(bench, CHANGE)).type is ErrorType.STALE_FILE

    path.write_text("new\n" + TEXT)
    assert (await bench.call("patch", patch=CHANGE))["files"][0]["hunks"] == [hunk(1, 10, offset=1)]


async def test_a_later_failure_puts_the_earlier_files_back(bench: Bench) -> None:
    bench.put("a.txt", TEXT).chmod(0o755)
    bench.put("old.txt", "old\n")
    bench.put("locked.txt", TEXT).chmod(0o444)
    others = (
        "diff --git a/old.txt b/x/new.txt\nrename from old.txt\nrename to x/new.txt\n"
        "--- /dev/null\n+++ b/y/z/made.txt\n@@ -0,0 +1 @@\n+made\n"
    )
    before = tree(bench.root)

    error = await failed(bench, CHANGE + others + CHANGE.replace("a.txt", "locked.txt"))

    assert (error.type, error.message) == (ErrorType.EXECUTION_FAILED, "locked.txt is read-only.")
    assert tree(bench.root) == before
    assert sorted(path.name for path in bench.root.iterdir()) == ["a.txt", "locked.txt", "old.txt"]
    assert stat.S_IMODE((bench.root / "a.txt").stat().st_mode) == 0o755


async def test_a_cancelled_patch_is_there_as_a_whole_or_not_at_all(bench: Bench) -> None:
    names = [f"f{number}.txt" for number in range(12)]
    for name in names:
        bench.put(name, TEXT)
    patch = "".join(CHANGE.replace("a.txt", name) for name in names)
    access = await bench.access("patch", patch=patch)
    for pause in range(0, 60, 3):
        task = asyncio.ensure_future(bench.run("patch", access, patch=patch))
        for _ in range(pause):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        if set(tree(bench.root).values()) != {TEXT.encode()}:
            break

    assert len(set(tree(bench.root).values())) == 1


async def test_what_was_patched_may_be_patched_again(bench: Bench) -> None:
    bench.put("a.txt", TEXT)
    await bench.call("read", path="a.txt")
    await bench.call("patch", patch=CHANGE)

    again = "--- a/a.txt\n+++ b/a.txt\n@@ -9,3 +9,3 @@\n line 9 \n line 10\n-line eleven\n+11\n"
    assert (await bench.call("patch", patch=again))["files"][0]["hunks"] == [
        hunk(1, 9, strategy="whitespace_normalized")
    ]
