"""`write` creates files and overwrites only what was seen."""

import asyncio
import os
from pathlib import Path

import pytest

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from tests.tools.calling import Bench

CREATED = "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+hi\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def overwrite(bench: Bench, before: bytes, content: str) -> bytes:
    path = bench.put("a.txt", before)
    await bench.call("read", path="a.txt")
    await bench.call("write", path="a.txt", content=content)
    return path.read_bytes()


async def test_a_new_file_is_created_with_its_folders(bench: Bench) -> None:
    result = await bench.result("write", path="new/deep/a.txt", content="é\r\nx")

    assert (bench.root / "new/deep/a.txt").read_bytes() == "é\r\nx".encode()
    assert result.for_model == {
        "ok": True,
        "path": "new/deep/a.txt",
        "operation": "create",
        "size": 5,
        "additions": 2,
        "deletions": 0,
        "diff": "--- /dev/null\n+++ b/new/deep/a.txt\n@@ -0,0 +1,2 @@\n"
        "+é\r\n+x\n\\ No newline at end of file\n",
    }
    assert (result.summary, result.changed_paths) == ("new/deep/a.txt +2 -0", ("new/deep/a.txt",))


async def test_the_declaration_shows_the_diff_and_writes_nothing(bench: Bench) -> None:
    access = await bench.access("write", path="a.txt", content="hi\n")

    assert access.targets == (Target(TargetKind.PATH, str(bench.root / "a.txt"), writes=True),)
    assert access.preview == DiffBlock("a.txt", CREATED, 1, 0)
    assert access.is_undoable
    assert list(bench.root.iterdir()) == []


async def test_a_file_that_was_read_is_overwritten(bench: Bench) -> None:
    bench.put("a.txt", "old\n")
    await bench.call("read", path="a.txt")

    result = await bench.call("write", path="a.txt", content="new\n")

    assert (result["operation"], result["size"], result["additions"], result["deletions"]) == (
        "overwrite",
        4,
        1,
        1,
    )


async def test_a_file_that_was_never_read_is_not_overwritten(bench: Bench) -> None:
    path = bench.put("a.txt", "old\n")

    with pytest.raises(ToolError, match="was not read in this session") as caught:
        await bench.call("write", path="a.txt", content="new\n")

    assert (caught.value.type, caught.value.hint) == (ErrorType.STALE_FILE, "Read it first, then write.")
    assert path.read_text() == "old\n"


async def test_a_file_changed_since_it_was_read_is_not_overwritten(bench: Bench) -> None:
    path = bench.put("a.txt", "old\n")
    await bench.call("read", path="a.txt")
    path.write_text("theirs\n")

    assert (await bench.failure("write", path="a.txt", content="new\n"))[0] is ErrorType.STALE_FILE
    assert path.read_text() == "theirs\n"


async def test_an_own_write_counts_as_read(bench: Bench) -> None:
    await bench.call("write", path="a.txt", content="one\n")

    assert (await bench.call("write", path="a.txt", content="two\n"))["operation"] == "overwrite"


async def test_an_edit_of_an_unread_file_does_not_make_it_read(bench: Bench) -> None:
    bench.put("a.txt", "old\nunseen\n")
    await bench.call("edit", path="a.txt", old_string="old", new_string="new")

    assert (await bench.failure("write", path="a.txt", content="gone\n"))[0] is ErrorType.STALE_FILE


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"\xef\xbb\xbfa\n", "b\n", b"\xef\xbb\xbfb\n"),
        ("a\n".encode("utf-16"), "é\n", "é\n".encode("utf-16")),
        (b"a\nb", "a\nc\n", b"a\nc"),
        (b"a\nb\n", "a\nc", b"a\nc\n"),
        (b"a\r\nb\nc\n", "a\nb\nd\n", b"a\r\nb\nd\n"),
        (b"\xff\xe9\nb\n", "\ufffd\ufffd\nc\n", b"\xff\xe9\nc\n"),
        (b"a\n", "", b""),
        (b"", "a", b"a"),
    ],
)
async def test_an_overwritten_file_keeps_its_ways(
    bench: Bench, before: bytes, content: str, after: bytes
) -> None:
    assert await overwrite(bench, before, content) == after


async def test_write_keeps_what_read_returned_unchanged(bench: Bench) -> None:
    before = b"\xef\xbb\xbfone\r\n\xff\xfetwo\n\x0cthree\r\n\nlast"
    path = bench.put("a.txt", before)
    content = (await bench.call("read", path="a.txt"))["content"]

    result = await bench.call("write", path="a.txt", content=content)

    assert path.read_bytes() == before
    assert (result["additions"], result["deletions"], result["diff"]) == (0, 0, "")


async def test_the_mode_is_kept(bench: Bench) -> None:
    path = bench.put("run.sh", "a\n")
    path.chmod(0o751)
    await bench.call("read", path="run.sh")

    await bench.call("write", path="run.sh", content="b\n")

    assert path.stat().st_mode & 0o7777 == 0o751


async def test_a_read_only_file_stays_as_it_is(bench: Bench) -> None:
    path = bench.put("a.txt", "a\n")
    path.chmod(0o444)
    await bench.call("read", path="a.txt")

    assert await bench.failure("write", path="a.txt", content="b\n") == (
        ErrorType.EXECUTION_FAILED,
        "a.txt is read-only.",
    )
    assert [entry.name for entry in bench.root.iterdir()] == ["a.txt"]


async def test_a_link_inside_keeps_pointing(bench: Bench) -> None:
    real = bench.put("real.txt", "a\n")
    link = bench.root / "link.txt"
    link.symlink_to("real.txt")
    await bench.call("read", path="link.txt")

    result = await bench.call("write", path="link.txt", content="b\n")

    assert (link.is_symlink(), real.read_text(), result["path"]) == (True, "b\n", "real.txt")


async def test_writing_through_a_link_that_leads_out_is_always_refused(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.root / "link").symlink_to(outside)
    (bench.root / "file").symlink_to(outside / "new.txt")

    for path in ("link/new.txt", "file", "link/../x.txt"):
        assert (await bench.failure("write", path=path, content="x"))[0] is ErrorType.PERMISSION_DENIED

    assert list(outside.iterdir()) == []


async def test_a_folder_swapped_for_a_link_after_approval_is_refused(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.root / "sub").mkdir()
    access = await bench.access("write", path="sub/a.txt", content="x")
    (bench.root / "sub").rmdir()
    (bench.root / "sub").symlink_to(outside)

    with pytest.raises(ToolError) as caught:
        await bench.run("write", access, path="sub/a.txt", content="x")

    assert caught.value.type is ErrorType.PERMISSION_DENIED
    assert list(outside.iterdir()) == []


async def test_a_file_changed_between_approval_and_write_is_refused(bench: Bench) -> None:
    access = await bench.access("write", path="a.txt", content="mine\n")
    path = bench.put("a.txt", "theirs\n")
    await bench.call("read", path="a.txt")

    with pytest.raises(ToolError, match="since the change was approved") as caught:
        await bench.run("write", access, path="a.txt", content="mine\n")

    assert caught.value.type is ErrorType.STALE_FILE
    assert path.read_text() == "theirs\n"


async def test_other_content_than_was_approved_is_refused(bench: Bench) -> None:
    access = await bench.access("write", path="a.txt", content="shown\n")

    with pytest.raises(ToolError) as caught:
        await bench.run("write", access, path="a.txt", content="other\n")

    assert caught.value.type is ErrorType.STALE_FILE


async def test_a_path_that_is_not_a_file_is_refused(bench: Bench) -> None:
    (bench.root / "folder").mkdir()
    os.mkfifo(bench.root / "pipe")

    assert (await bench.failure("write", path="folder", content="x"))[0] is ErrorType.NOT_A_FILE
    assert (await bench.failure("write", path="pipe", content="x"))[0] is ErrorType.NOT_A_FILE


async def test_half_a_character_is_refused(bench: Bench) -> None:
    kind, message = await bench.failure("write", path="a.txt", content="\ud83d")

    assert (kind, message.split(":")[0]) == (ErrorType.INVALID_TOOL_PARAMS, "invalid args")


async def test_a_large_diff_is_cut_for_the_model_but_not_for_the_user(bench: Bench) -> None:
    result = await bench.result("write", path="a.txt", content="line\n" * 20_000)

    assert result.for_model["diff_truncated"]
    assert len(result.for_model["diff"]) <= 50 * 1024
    assert isinstance(result.for_user, DiffBlock)
    assert result.for_user.diff.count("\n+line") == 20_000


async def test_a_hard_link_is_reported_and_left_alone(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "bashrc"
    outside.write_text("a\n")
    os.link(outside, bench.root / "a.txt")
    await bench.call("read", path="a.txt")

    access = await bench.access("write", path="a.txt", content="b\n")
    await bench.run("write", access, path="a.txt", content="b\n")

    assert access.facts == ("The file has 2 hard links; the others keep the old content.",)
    assert outside.read_text() == "a\n"


async def test_writes_to_one_file_take_turns(bench: Bench) -> None:
    bench.put("a.txt", "".join(f"{number}\n" for number in range(20)))

    await asyncio.gather(
        *(
            bench.run("edit", None, path="a.txt", old_string=f"{number}\n", new_string=f"n{number}\n")
            for number in range(10, 20)
        )
    )

    lines = (bench.root / "a.txt").read_text().split()
    assert lines == [*map(str, range(10)), *(f"n{number}" for number in range(10, 20))]
