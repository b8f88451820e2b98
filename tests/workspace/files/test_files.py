"""Text survives loading byte for byte."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.text import (
    Encoding,
    Newline,
    TextFile,
    decode,
    digest_of,
    has_content,
    load,
    load_if_there,
)

HERE = Located(Path("/f"), "f", is_inside=True, escapes_by_link=False)


@pytest.fixture
def located(tmp_path: Path) -> Located:
    return Workspace(tmp_path).locate("a.txt")


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


async def test_the_way_to_a_file_is_not_taken_for_a_free_name(located: Located) -> None:
    located.path.write_text("x")
    under = Workspace(located.path.parent).locate("a.txt/b.txt")

    with pytest.raises(ToolError, match="is not a folder"):
        await load_if_there(under)


async def test_another_file_with_the_same_content_is_other_evidence(located: Located) -> None:
    located.path.write_text("same")
    first = await load(located)
    again = await load(located)
    copy = located.path.with_name("copy")
    copy.write_text("same")
    copy.rename(located.path)
    other = await load(located)

    assert first.evidence == again.evidence
    assert (other.digest == first.digest, other.evidence == first.evidence) == (True, False)


async def test_a_file_too_large_to_load_is_refused(located: Located) -> None:
    with located.path.open("wb") as file:
        file.truncate(51 * 1024 * 1024)

    with pytest.raises(ToolError) as caught:
        await load(located)

    assert caught.value.type is ErrorType.TOO_LARGE


async def test_content_is_compared_by_its_bytes(located: Located, tmp_path: Path) -> None:
    path = located.path
    path.write_text("a é\n")
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    os.mkfifo(pipe)
    assert has_content(path, "a é\n")
    others = (*((path, text) for text in ("a é", "a é\n\n", "a e\n", "\udcff")), (tmp_path / "none", ""))
    for place, text in (*others, (link, "a é\n"), (pipe, ""), (tmp_path, "")):
        assert not has_content(place, text), (place, text)


@pytest.mark.parametrize("text", ["\ufeffa", "a\0", "a" * 40_000], ids=["bom", "nul", "long"])
async def test_what_takes_longer_to_tell_is_left_to_loading(located: Located, text: str) -> None:
    located.path.write_text(text)
    assert not has_content(located.path, text)
