"""A save is complete or does not happen."""

import asyncio
import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files import save as replace_module
from coder_tui.workspace.files.confine import Located, Workspace, explain
from coder_tui.workspace.files.save import remove, save
from coder_tui.workspace.files.text import TextFile, load


@pytest.fixture
def located(tmp_path: Path) -> Located:
    return Workspace(tmp_path).locate("a.txt")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


async def refusal(located: Located, data: bytes, before: TextFile | None) -> ErrorType:
    with pytest.raises(ToolError) as caught:
        await save(located, data, before)
    return caught.value.type


async def test_saving_replaces_the_content_and_leaves_nothing_else(located: Located) -> None:
    located.path.write_text("old")
    located.path.chmod(0o600)

    await save(located, b"new", await load(located))

    assert (located.path.read_bytes(), located.path.stat().st_mode & 0o777) == (b"new", 0o600)
    assert names(located.path.parent) == ["a.txt"]


async def test_a_new_file_gets_the_usual_mode(located: Located) -> None:
    mask = os.umask(0o027)
    try:
        await save(located, b"new", None)
    finally:
        os.umask(mask)

    assert located.path.stat().st_mode & 0o777 == 0o640


async def test_a_file_changed_after_loading_is_not_replaced(located: Located) -> None:
    located.path.write_text("old")
    before = await load(located)
    located.path.write_text("theirs")

    with pytest.raises(ToolError) as caught:
        await save(located, b"new", before)

    assert (caught.value.type, located.path.read_text()) == (ErrorType.STALE_FILE, "theirs")
    assert names(located.path.parent) == ["a.txt"]


async def test_a_file_created_in_the_meantime_is_not_replaced(located: Located) -> None:
    located.path.write_text("theirs")

    with pytest.raises(ToolError) as caught:
        await save(located, b"new", None)

    assert (caught.value.type, located.path.read_text()) == (ErrorType.STALE_FILE, "theirs")
    assert names(located.path.parent) == ["a.txt"]


async def test_a_file_removed_after_loading_is_not_brought_back(located: Located) -> None:
    located.path.write_text("old")
    before = await load(located)
    located.path.unlink()

    with pytest.raises(ToolError):
        await save(located, b"new", before)

    assert names(located.path.parent) == []


@contextlib.contextmanager
def no_room(limit: int) -> Iterator[None]:
    """Make the system refuse to grow files beyond `limit`, as a full disk does.

    Only around the write, because the test runner may write to a file, too.
    """
    old_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, old_limit[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old_limit)
        signal.signal(signal.SIGXFSZ, old_handler)


async def test_a_write_that_fails_midway_leaves_the_file_alone(located: Located) -> None:
    located.path.write_text("old")
    before = await load(located)

    with no_room(1_000), pytest.raises(ToolError, match=r"a\.txt is unchanged") as caught:
        await save(located, b"x" * 5_000, before)

    assert (caught.value.type, located.path.read_text()) == (ErrorType.EXECUTION_FAILED, "old")
    assert names(located.path.parent) == ["a.txt"]


async def test_a_cancelled_save_finishes_before_the_cancellation(
    located: Located, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, go = threading.Event(), threading.Event()
    original = replace_module.sync_folder

    def wait(folder: int) -> None:
        entered.set()
        go.wait(10)
        original(folder)

    monkeypatch.setattr(replace_module, "sync_folder", wait)
    task = asyncio.ensure_future(save(located, b"new", None))
    await asyncio.to_thread(entered.wait, 10)

    task.cancel()
    await asyncio.sleep(0)
    is_settled_early = task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (is_settled_early, located.path.read_bytes()) == (False, b"new")


async def test_a_file_replaced_by_its_like_is_not_written_over(located: Located) -> None:
    located.path.write_text("same")
    before = await load(located)
    (located.path.parent / "b").write_text("same")
    (located.path.parent / "b").rename(located.path)

    assert await refusal(located, b"new", before) is ErrorType.STALE_FILE
    assert (located.path.read_text(), names(located.path.parent)) == ("same", ["a.txt"])


async def test_a_file_that_became_huge_is_not_read_into_memory(located: Located) -> None:
    located.path.write_text("small")
    before = await load(located)
    with located.path.open("r+b") as file:
        file.truncate(200 * 1024 * 1024)
    tracemalloc.start()
    kind = await refusal(located, b"new", before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (kind, peak < 10 * 1024 * 1024) == (ErrorType.STALE_FILE, True)


async def test_a_file_that_became_a_link_is_not_written_through(located: Located, tmp_path: Path) -> None:
    located.path.write_text("mine")
    before = await load(located)
    (tmp_path / "other").write_text("mine")
    located.path.unlink()
    located.path.symlink_to("other")

    assert await refusal(located, b"new", before) is ErrorType.PERMISSION_DENIED
    assert ((tmp_path / "other").read_text(), located.path.is_symlink()) == ("mine", True)


async def test_a_link_inside_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    located = Workspace(tmp_path).locate("link")

    await save(located, b"new", await load(located))

    assert ((tmp_path / "link").is_symlink(), (tmp_path / "real").read_text()) == (True, "new")


async def test_other_hard_links_keep_the_old_content(located: Located, tmp_path: Path) -> None:
    located.path.write_text("old")
    os.link(located.path, tmp_path / "twin")
    before = await load(located)

    await save(located, b"new", before)

    assert (before.links, located.path.read_text(), (tmp_path / "twin").read_text()) == (2, "new", "old")


async def test_a_mode_can_be_given(located: Located) -> None:
    await save(located, b"x", None, 0o755)
    made = located.path.stat().st_mode & 0o777
    await save(located, b"x", await load(located), 0o640)

    assert (made, located.path.stat().st_mode & 0o777) == (0o755, 0o640)


if sys.platform == "linux":

    async def test_extended_attributes_are_kept(located: Located) -> None:
        located.path.write_text("old")
        os.setxattr(located.path, "user.origin", b"elsewhere")

        await save(located, b"new", await load(located))

        assert os.getxattr(located.path, "user.origin") == b"elsewhere"


@pytest.mark.parametrize("path", [".", "file/below"])
async def test_an_impossible_path_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("x")
    located = Workspace(tmp_path).locate(path)

    with pytest.raises(ToolError) as caught:
        await save(located, b"new", None)

    assert caught.value.type in {ErrorType.STALE_FILE, ErrorType.FILE_NOT_FOUND}
    assert (names(tmp_path), (tmp_path / "file").read_text()) == (["file"], "x")


async def test_a_read_only_file_is_left_alone(located: Located) -> None:
    located.path.write_text("old")
    located.path.chmod(0o444)
    before = await load(located)

    assert await refusal(located, b"new", before) is ErrorType.EXECUTION_FAILED
    with pytest.raises(ToolError, match="read-only"):
        await remove(located, before)
    assert (located.path.read_text(), names(located.path.parent)) == ("old", ["a.txt"])


async def test_removing_wants_the_file_as_it_was_loaded(located: Located) -> None:
    located.path.write_text("old")
    before = await load(located)
    located.path.write_text("theirs")

    with pytest.raises(ToolError) as caught:
        await remove(located, before)
    theirs = located.path.read_text()
    await remove(located, await load(located))

    assert (caught.value.type, theirs, names(located.path.parent)) == (ErrorType.STALE_FILE, "theirs", [])


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """Return a disk with room for a few pages at `folder`; without root, files that cannot grow."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", str(folder)], check=True)
    else:
        with no_room(64 * 1024):
            yield


async def test_no_space_left_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with small_disk(tmp_path):
        (tmp_path / "a.txt").write_text("old")
        located = workspace.locate("a.txt")
        changed = await refusal(located, b"x" * 200_000, await load(located))
        created = await refusal(workspace.locate("new/deep/new.txt"), b"x" * 200_000, None)
        left = located.path.read_text(), names(tmp_path)

    assert (changed, created) == (ErrorType.EXECUTION_FAILED, ErrorType.EXECUTION_FAILED)
    assert left == ("old", ["a.txt"])


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "The disk is full; a.txt is unchanged."),
        (errno.EDQUOT, "The disk quota is used up; a.txt is unchanged."),
        (errno.EROFS, "a.txt is on a read-only file system."),
        (errno.EACCES, "The system does not permit access to a.txt."),
        (errno.EPERM, "The system does not permit access to a.txt."),
        (errno.EIO, "a.txt: Input/output error."),
    ],
)
def test_what_the_disk_says_is_put_in_words(located: Located, number: int, words: str) -> None:
    error = explain(OSError(number, os.strerror(number)), located)

    assert (error.type, error.message) == (ErrorType.EXECUTION_FAILED, words)
