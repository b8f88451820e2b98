"""`edit` changes what is meant, byte for byte, or nothing."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.replace import replace_exact
from coder_tui.workspace.files.confine import Located
from coder_tui.workspace.files.text import decode
from tests.tools.calling import Bench

DIFF = (
    "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,3 @@\n"
    " def add(a, b):\n-    return a - b\n+    # fixed\n+    return a + b\n"
)
HERE = Located(Path("/f"), "f", is_inside=True, escapes_by_link=False)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def edited(bench: Bench, before: bytes, old: str, new: str, *, replace_all: bool = False) -> bytes:
    path = bench.put("a.txt", before)
    await bench.call("edit", path="a.txt", old_string=old, new_string=new, replace_all=replace_all)
    return path.read_bytes()


async def test_one_place_is_replaced_and_shown(bench: Bench) -> None:
    bench.put("calc.py", "def add(a, b):\n    return a - b\n")
    arguments = {"old_string": "    return a - b", "new_string": "    # fixed\n    return a + b"}

    result = await bench.result("edit", path="calc.py", **arguments)

    assert result.for_model == {
        "ok": True,
        "path": "calc.py",
        "replacements": 1,
        "strategy": "exact",
        "start_line": 2,
        "end_line": 2,
        "additions": 2,
        "deletions": 1,
        "diff": DIFF,
    }
    assert (result.for_user, result.summary) == (DiffBlock("calc.py", DIFF, 2, 1), "calc.py +2 -1")
    assert result.changed_paths == ("calc.py",)


async def test_the_declaration_shows_the_same_diff(bench: Bench) -> None:
    path = bench.put("calc.py", "def add(a, b):\n    return a - b\n")

    access = await bench.access(
        "edit", path="calc.py", old_string="    return a - b", new_string="    # fixed\n    return a + b"
    )

    assert access.targets == (Target(TargetKind.PATH, str(path), writes=True),)
    assert access.preview == DiffBlock("calc.py", DIFF, 2, 1)
    assert path.read_text() == "def add(a, b):\n    return a - b\n"


async def test_every_place_is_replaced_when_asked(bench: Bench) -> None:
    path = bench.put("a.txt", "x x\nx\n")

    result = await bench.call("edit", path="a.txt", old_string="x", new_string="$1\\g<0>", replace_all=True)

    assert (result["replacements"], result["strategy"]) == (3, "multi_occurrence")
    assert path.read_text() == "$1\\g<0> $1\\g<0>\n$1\\g<0>\n"


async def test_several_places_are_refused_with_their_lines(bench: Bench) -> None:
    path = bench.put("a.txt", "x\ny\nx\n")

    assert await bench.failure("edit", path="a.txt", old_string="x", new_string="z") == (
        ErrorType.AMBIGUOUS_MATCH,
        "old_string occurs 2 times, at lines 1, 3.",
    )
    assert path.read_text() == "x\ny\nx\n"


async def test_places_that_overlap_are_several(bench: Bench) -> None:
    bench.put("a.txt", "aaa\n")

    assert (await bench.failure("edit", path="a.txt", old_string="aa", new_string="b"))[
        0
    ] is ErrorType.AMBIGUOUS_MATCH


@pytest.mark.parametrize(("old", "new"), [("x", "x"), ("", "x"), ("a\r\nb", "a\nb")])
async def test_identical_and_empty_strings_are_invalid(bench: Bench, old: str, new: str) -> None:
    bench.put("a.txt", "x\n")

    kind, message = await bench.failure("edit", path="a.txt", old_string=old, new_string=new)

    assert kind is ErrorType.INVALID_TOOL_PARAMS
    assert message.startswith("invalid args: ")


async def test_text_that_is_not_there_gets_the_nearest_place(bench: Bench) -> None:
    bench.put("a.py", "import os\n\ndef total(items):\n    count = 0\n    return count\n")

    assert await bench.failure(
        "edit",
        path="a.py",
        old_string="def total(items):\n    count = 1\n    return count\n",
        new_string="pass\n",
    ) == (
        ErrorType.NO_MATCH,
        "old_string is not in a.py. The nearest place is lines 3-5, 97% similar; line 4 differs first: "
        "looked for '    count = 1', the file has '    count = 0'.",
    )


async def test_a_single_line_that_is_much_alike_is_named(bench: Bench) -> None:
    bench.put("a.py", "alpha = 1\nbeta_value = compute(alpha)\n")

    _, message = await bench.failure(
        "edit", path="a.py", old_string="beta_value = compute(x)", new_string="q"
    )

    assert "The nearest place is lines 2-2" in message


async def test_an_edit_made_before_is_said_to_be_done(bench: Bench) -> None:
    bench.put("a.py", "return a + b\n")

    assert (await bench.failure("edit", path="a.py", old_string="return a - b", new_string="return a + b"))[
        0
    ] is ErrorType.ALREADY_APPLIED


async def test_a_file_changed_since_it_was_read_is_edited_only_where_the_text_matches(bench: Bench) -> None:
    path = bench.put("a.txt", "one\ntwo\n")
    await bench.call("read", path="a.txt")
    path.write_text("zero\none\n")

    assert (await bench.failure("edit", path="a.txt", old_string="two", new_string="2"))[
        0
    ] is ErrorType.STALE_FILE
    assert (await bench.call("edit", path="a.txt", old_string="one", new_string="1"))["replacements"] == 1


async def test_a_missing_file_is_said(bench: Bench) -> None:
    assert (await bench.failure("edit", path="no.txt", old_string="a", new_string="b"))[
        0
    ] is ErrorType.FILE_NOT_FOUND


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\r\nb\nc\r\n", "b\nc", "b\nd\nc", b"a\r\nb\nd\nc\r\n"),
        (b"a\nb\r\nc", "c", "c\nd", b"a\nb\r\nc\r\nd"),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        ("é x\n".encode("utf-16"), "x", "日", "é 日\n".encode("utf-16")),
        (b"\xff keep \xe9\nx\n", "x", "y", b"\xff keep \xe9\ny\n"),
        (b"v = \xe9 # old\n", "v = \ufffd # old", "v = \ufffd # new", b"v = \xe9 # new\n"),
        (b"a \xe9 b\n", "a \ufffd b", "b \ufffd a", b"b \xe9 a\n"),
        (b"no newline", "newline", "end", b"no end"),
        (b"a\x0cb\r\n", "a\x0cb", "c", b"c\r\n"),
    ],
)
async def test_bytes_outside_the_change_stay(
    bench: Bench, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(bench, before, old, new) == after


async def test_undecodable_bytes_are_not_lost_in_a_change(bench: Bench) -> None:
    path = bench.put("a.txt", b"a \xe9 b\n")

    kind, _ = await bench.failure(
        "edit", path="a.txt", old_string="a \ufffd b", new_string="x \ufffd \ufffd y"
    )

    assert (kind, path.read_bytes()) == (ErrorType.INVALID_TOOL_PARAMS, b"a \xe9 b\n")


async def test_a_file_changed_between_approval_and_edit_is_refused(bench: Bench) -> None:
    path = bench.put("a.txt", "x\n")
    access = await bench.access("edit", path="a.txt", old_string="x", new_string="y")
    path.write_text("x\nmore\n")

    with pytest.raises(ToolError) as caught:
        await bench.run("edit", access, path="a.txt", old_string="x", new_string="y")

    assert (caught.value.type, path.read_text()) == (ErrorType.STALE_FILE, "x\nmore\n")


async def test_a_failing_edit_outside_tells_nothing_before_it_is_decided_on(
    bench: Bench, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("password = hunter2\n")
    arguments = {"path": "../outside.txt", "old_string": "password = x", "new_string": "password = y"}

    access = await bench.access("edit", **arguments)
    outside.write_text("password = x\n")

    assert (access.preview, access.facts) == (TextBlock("This change cannot be made."), ())
    with pytest.raises(ToolError) as caught:
        await bench.run("edit", access, **arguments)
    assert (caught.value.type, outside.read_text()) == (ErrorType.STALE_FILE, "password = x\n")


async def test_a_binary_file_is_refused(bench: Bench) -> None:
    bench.put("a.bin", b"a\0b")

    assert (await bench.failure("edit", path="a.bin", old_string="a", new_string="b"))[
        0
    ] is ErrorType.BINARY_FILE


PIECES = st.lists(
    st.sampled_from([b"a", b"b", b"\n", b"\r\n", b"\r", b"\xff", b"\xc3\xa9", b" ", b"\xe2\x80\xa8"]),
    max_size=25,
)


@settings(max_examples=300, deadline=None)
@given(before=PIECES, after=PIECES, bom=st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_any_file_keeps_every_byte_around_an_edit(
    before: list[bytes], after: list[bytes], bom: bytes
) -> None:
    data = bom + b"".join(before) + b"<OLD>" + b"".join(after)
    file = decode(data, HERE)

    replaced = replace_exact(file, "<OLD>", "<NEW TEXT>", replace_all=False)

    assert replaced is not None
    assert file.encode(file.text) == data
    assert file.encode(replaced.text) == data.replace(b"<OLD>", b"<NEW TEXT>")
