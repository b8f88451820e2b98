"""Text survives loading and saving byte for byte, or stays untouched."""

import asyncio
import os
import resource
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace import save as save_module
from coder_tui.workspace.confine import Located, Workspace
from coder_tui.workspace.files import Encoding, Newline, TextFile, decode, digest_of, load, load_if_there
from coder_tui.workspace.save import save

HERE = Located(Path("/f"), "f", is_inside=True, escapes_by_link=False)


@pytest.fixture
def located(tmp_path: Path) -> Located:
    return Workspace(tmp_path).locate("a.txt")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


async def test_a_file_is_loaded_as_it_is(located: Located) -> None:
    data = b"\xef\xbb\xbfa\r\nb\r\nc\n\xff"
    located.path.write_bytes(data)
    located.path.chmod(0o640)

    file = await load(located)

    assert file == TextFile("a\r\nb\r\nc\n\udcff", Encoding.UTF_8, True, 0o640, digest_of(data), 1)
    assert (file.newline, file.shown) == (Newline.CRLF, "a\r\nb\r\nc\n\ufffd")
    assert file.encode(file.text) == data


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_any_text_round_trips(data: bytes) -> None:
    try:
        file = decode(data, HERE)
    except ToolError as error:
        assert error.type is ErrorType.BINARY_FILE
    else:
        assert file.encode(file.text) == data
        assert len(file.shown) == len(file.text)
        assert file.shown.encode().decode() == file.shown


@settings(max_examples=100)
@given(st.text(alphabet=st.characters(blacklist_categories=[]), max_size=40), st.sampled_from(["le", "be"]))
def test_any_utf_16_round_trips(text: str, order: str) -> None:
    bom = b"\xff\xfe" if order == "le" else b"\xfe\xff"
    data = bom + ("x" + text).encode(f"utf-16-{order}", "surrogatepass")

    file = decode(data, HERE)

    assert (file.encoding.value, file.encode(file.text)) == (f"utf-16-{order}", data)


async def test_where_nothing_is_there_is_none(located: Located) -> None:
    assert await load_if_there(located) is None


async def test_a_file_too_large_to_hold_is_refused(located: Located) -> None:
    with located.path.open("wb") as file:
        file.truncate(51 * 1024 * 1024)

    with pytest.raises(ToolError) as caught:
        await load(located)

    assert caught.value.type is ErrorType.TOO_LARGE


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


async def test_a_file_created_meanwhile_is_not_replaced(located: Located) -> None:
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


@pytest.fixture
def small_files() -> Iterator[None]:
    """The system refuses to grow files beyond a few bytes, as a full disk does."""
    old_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, old_limit[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, old_limit)
    signal.signal(signal.SIGXFSZ, old_handler)


@pytest.mark.usefixtures("small_files")
async def test_a_write_that_fails_midway_leaves_the_file_alone(located: Located) -> None:
    located.path.write_text("old")

    with pytest.raises(ToolError, match=r"a\.txt is as it was") as caught:
        await save(located, b"x" * 5_000, await load(located))

    assert (caught.value.type, located.path.read_text()) == (ErrorType.EXECUTION_FAILED, "old")
    assert names(located.path.parent) == ["a.txt"]


async def test_a_cancelled_save_is_settled_before_the_cancellation_goes_on(
    located: Located, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, go = threading.Event(), threading.Event()
    original = save_module._sync_folder

    def wait(folder: int) -> None:
        entered.set()
        go.wait(10)
        original(folder)

    monkeypatch.setattr(save_module, "_sync_folder", wait)
    task = asyncio.ensure_future(save(located, b"new", None))
    await asyncio.to_thread(entered.wait, 10)

    task.cancel()
    await asyncio.sleep(0)
    is_settled_early = task.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (is_settled_early, located.path.read_bytes()) == (False, b"new")
