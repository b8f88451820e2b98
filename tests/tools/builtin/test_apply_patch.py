"""`apply_patch` reads the envelope that GPT models write, and refuses what it cannot place."""

from pathlib import Path

import pytest

from coder_tui.llm.traits import traits_of
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.registry import Registry
from tests.tools.calling import Bench
from tests.tools.patching import hunk, patch_bench, tree

TEXT = """\
class Cart:
    def add(self, item):
        self.items.append(item)
        self.log()

    def drop(self, item):
        self.items.remove(item)
        self.log()
"""
BODY = """\
*** Update File: cart.py
@@ def add(self, item):
         self.items.append(item)
-        self.log()
+        self.log(item)

"""
PATCH = f"*** Begin Patch\n{BODY}*** End Patch\n"
PATCHED = TEXT.replace("self.log()", "self.log(item)", 1)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return patch_bench(tmp_path / "ws")


async def patched(bench: Bench, before: str, patch: str) -> str:
    path = bench.put("cart.py", before)
    await bench.call("apply_patch", patch=patch)
    return path.read_bytes().decode()


async def refused(bench: Bench, patch: str) -> ErrorType:
    with pytest.raises(ToolError) as caught:
        await bench.call("apply_patch", patch=patch)
    return caught.value.type


async def test_files_are_added_updated_moved_and_deleted_together(bench: Bench) -> None:
    bench.put("cart.py", TEXT)
    bench.put("old.py", "a = 1\nb = 2\n")
    bench.put("gone.py", "x\n")
    patch = (
        f"*** Begin Patch\n{BODY}"
        "*** Update File: old.py\n*** Move to: lib/new.py\n@@\n a = 1\n-b = 2\n+b = 3\n"
        "*** Add File: made/it.py\n+first\n+\n+third\n"
        "*** Delete File: gone.py\n*** End Patch"
    )

    result = await bench.call("apply_patch", patch=patch)

    assert result == {
        "ok": True,
        "applied": True,
        "files": [
            {"path": "cart.py", "operation": "modify", "additions": 1, "deletions": 1, "hunks": [hunk(1, 3)]},
            {
                "path": "lib/new.py",
                "operation": "rename",
                "old_path": "old.py",
                "additions": 1,
                "deletions": 1,
                "hunks": [hunk(1, 1)],
            },
            {
                "path": "made/it.py",
                "operation": "create",
                "additions": 3,
                "deletions": 0,
                "hunks": [hunk(1, 1)],
            },
            {"path": "gone.py", "operation": "delete", "additions": 0, "deletions": 1, "hunks": []},
        ],
    }
    assert tree(bench.root) == {
        "cart.py": PATCHED.encode(),
        "lib/new.py": b"a = 1\nb = 3\n",
        "made/it.py": b"first\n\nthird\n",
    }


@pytest.mark.parametrize(
    "patch",
    [
        f"<<'EOF'\n{PATCH}EOF\n",
        f"apply_patch <<EOF\n{PATCH}EOF",
        f"```\n{PATCH}```\n",
        f"*** Begin Patch\n{BODY}",
        BODY,
        PATCH.replace("\n", "\r\n"),
        PATCH.replace("@@ def add(self, item):", "@@ -3,2 +3,2 @@"),
        PATCH.replace("@@ def add(self, item):", "@@ class Cart:\n@@ def add(self, item):"),
        PATCH.replace("@@ def add(self, item):", "\n@@"),
        PATCH.replace("@@ def add(self, item):\n", ""),
        PATCH.replace("@@ def add(self, item):", "@@ def add(self"),
        PATCH.replace("\n         self", "\n        self"),
        PATCH.replace("        ", "    "),
        PATCH.replace("        ", "            "),
        PATCH.replace("*** Begin Patch\n", "*** Begin Patch\n*** Environment ID: local\n"),
    ],
)
async def test_what_models_get_wrong_does_not_matter(bench: Bench, patch: str) -> None:
    assert await patched(bench, TEXT, patch) == PATCHED


async def test_a_file_keeps_its_line_ends_and_its_missing_last_newline(bench: Bench) -> None:
    before = TEXT.replace("\n", "\r\n").removesuffix("\r\n")

    assert await patched(bench, before, PATCH) == PATCHED.replace("\n", "\r\n").removesuffix("\r\n")


TWICE = "    log()\n    end()\n"


def twice(anchor: str) -> str:
    change = "-    log()\n+    log(1)\n     end()\n"
    return f"*** Begin Patch\n*** Update File: cart.py\n@@{anchor}\n{change}*** End Patch\n"


async def test_a_repeated_block_needs_its_anchor(bench: Bench) -> None:
    text = f"def one():\n{TWICE}\ndef two():\n{TWICE}"

    assert (
        await patched(bench, text, twice(" def two():"))
        == f"def one():\n{TWICE}\ndef two():\n    log(1)\n    end()\n"
    )
    bench.put("cart.py", text)
    assert await refused(bench, twice("")) is ErrorType.AMBIGUOUS_MATCH
    assert (bench.root / "cart.py").read_text() == text


async def test_the_end_of_the_file_decides_between_places(bench: Bench) -> None:
    patch = twice("").replace("*** End Patch", "*** End of File\n*** End Patch")

    assert await patched(bench, TWICE + TWICE, patch) == TWICE + "    log(1)\n    end()\n"


async def test_lines_without_context_are_appended_or_follow_their_anchor(bench: Bench) -> None:
    head = "*** Begin Patch\n*** Update File: cart.py\n"

    assert await patched(bench, "a\nb", f"{head}@@\n+c\n*** End Patch") == "a\nb\nc"
    assert (
        await patched(bench, "def f():\n    b\n", f"{head}@@ def f():\n+    a\n*** End Patch")
        == "def f():\n    a\n    b\n"
    )


async def test_new_lines_before_blank_context_do_not_land_at_the_end(bench: Bench) -> None:
    """From a real history: if a blank line is the only context, that line is the place."""
    head = "*** Begin Patch\n*** Update File: cart.py\n@@\n"

    assert (
        await patched(bench, "\nexport\n", f"{head}+'use strict';\n \n*** End Patch")
        == "'use strict';\n\nexport\n"
    )


async def test_equal_chunks_do_not_share_one_place(bench: Bench) -> None:
    """From a real history: blanks at the end of a line hid one of two places from an exact search."""
    text = "def one():\n    log()\n    end()  \n\ndef two():\n    log()\n    end()\n"
    chunk = "@@\n     log()\n+    more()\n     end()\n"
    bench.put("cart.py", text)

    assert await refused(
        bench, f"*** Begin Patch\n*** Update File: cart.py\n{chunk}{chunk}*** End Patch"
    ) is (ErrorType.AMBIGUOUS_MATCH)


async def test_a_change_of_line_ends_alone_is_made(bench: Bench) -> None:
    head = "*** Begin Patch\n*** Update File: cart.py\n@@\n"

    assert (
        await patched(bench, "one\ntwo\n", f"{head}-one\n-two\n+one\r\n+two\r\n*** End Patch\n")
        == "one\r\ntwo\r\n"
    )


@pytest.mark.parametrize(
    ("patch", "kind"),
    [
        ("*** Begin Patch\n*** End Patch", ErrorType.INVALID_TOOL_PARAMS),
        ("*** Begin Patch\n*** Update File: cart.py\n*** End Patch", ErrorType.INVALID_TOOL_PARAMS),
        ("*** Begin Patch\n*** Delete File: cart.py\n-x\n*** End Patch", ErrorType.INVALID_TOOL_PARAMS),
        ("*** Begin Patch\n*** Add File: new.py\n+a\nb\n*** End Patch", ErrorType.INVALID_TOOL_PARAMS),
        ("*** Begin Patch\n*** Add File: same.py\n+same\n*** End Patch", ErrorType.ALREADY_APPLIED),
        ("*** Begin Patch\n*** Delete File: none.py\n*** End Patch", ErrorType.FILE_NOT_FOUND),
        (PATCH.replace("self.items.append", "self.things.extend"), ErrorType.CONTEXT_MISMATCH),
        (PATCH.replace("cart.py\n", "cart.py\n*** Move to: same.py\n"), ErrorType.ALREADY_EXISTS),
        (f"{PATCH}*** Delete File: cart.py\n*** End Patch", ErrorType.INVALID_TOOL_PARAMS),
    ],
)
async def test_bad_envelopes_say_why_and_change_nothing(bench: Bench, patch: str, kind: ErrorType) -> None:
    bench.put("cart.py", TEXT)
    bench.put("same.py", "same\n")
    before = tree(bench.root)

    assert await refused(bench, patch) is kind
    assert tree(bench.root) == before


async def test_a_file_that_changed_since_it_was_read_is_not_deleted(bench: Bench) -> None:
    path = bench.put("cart.py", TEXT)
    await bench.call("read", path="cart.py")
    path.write_text("other\n")

    assert (
        await refused(bench, "*** Begin Patch\n*** Delete File: cart.py\n*** End Patch")
        is ErrorType.STALE_FILE
    )
    assert path.read_text() == "other\n"


async def test_either_tool_reads_either_form(bench: Bench) -> None:
    bench.put("cart.py", TEXT)
    await bench.call("patch", patch=PATCH)
    back = "--- a/cart.py\n+++ b/cart.py\n@@ -4,1 +4,1 @@\n-        self.log(item)\n+        self.log()\n"

    await bench.call("apply_patch", patch=back)

    assert (bench.root / "cart.py").read_text() == TEXT


@pytest.mark.parametrize(
    ("model", "offered"),
    [
        ("openai/gpt-5", {"apply_patch"}),
        ("openai/gpt-4.1", {"edit", "write", "patch"}),
        ("groq/openai/gpt-oss-120b", {"edit", "write", "patch"}),
        ("anthropic/claude-sonnet-4-5", {"edit", "write", "patch"}),
    ],
)
async def test_each_model_gets_the_tools_it_knows(bench: Bench, model: str, offered: set[str]) -> None:
    names = {tool.name for tool in Registry(bench.tools.values()).offered(traits_of(model))}

    assert names & {"edit", "write", "patch", "apply_patch"} == offered


@pytest.mark.parametrize(
    "marker",
    [
        "*** Delete File: keep.txt",
        "*** Add File: made.txt",
        "*** Update File: keep.txt",
        "*** Move to: moved.py",
        "*** End of File",
        "*** End Patch",
        "*** Begin Patch",
        "*** Environment ID: local",
    ],
)
@pytest.mark.parametrize("ending", ["*** End Patch\n", ""])
async def test_a_context_line_that_looks_like_a_marker_is_context(
    bench: Bench, marker: str, ending: str
) -> None:
    before = f"start\n{marker}\nold\n{marker}\nlast\nold\n"
    bench.put("keep.txt", "kept\n")
    lines = f"@@\n {marker}\n-old\n+new\n {marker}\n last\n"
    patch = f"*** Begin Patch\n*** Update File: cart.py\n{lines}{ending}"

    assert await patched(bench, before, patch) == before.replace("old", "new", 1)
    assert tree(bench.root) == {"cart.py": before.replace("old", "new", 1).encode(), "keep.txt": b"kept\n"}


async def test_markers_in_a_unified_diff_are_context(bench: Bench) -> None:
    before = "a\n*** Delete File: keep.txt\n*** Begin Patch\nold\n"
    bench.put("keep.txt", "kept\n")
    patch = (
        "--- a/cart.py\n+++ b/cart.py\n@@ -1,4 +1,4 @@\n a\n *** Delete File: keep.txt\n *** Begin Patch\n"
        "-old\n+new\n"
    )

    assert await patched(bench, before, patch) == before.replace("old", "new")
    assert (bench.root / "keep.txt").exists()


@pytest.mark.parametrize(
    "body",
    ["@@\n-a\n+b\n*** Move to: moved.py\n", "*** Move to: one.py\n*** Move to: two.py\n@@\n-a\n+b\n"],
)
async def test_a_move_belongs_right_after_the_name_of_the_file(bench: Bench, body: str) -> None:
    bench.put("cart.py", "a\n")

    patch = f"*** Begin Patch\n*** Update File: cart.py\n{body}*** End Patch\n"

    assert await refused(bench, patch) is ErrorType.INVALID_TOOL_PARAMS
