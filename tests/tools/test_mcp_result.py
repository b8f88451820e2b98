"""A server's answer as a result: labelled for the model, pictures checked, nothing repeated."""

import base64
from pathlib import Path

import pytest

from coder_tui.mcp.wire import Answer, Part, PartKind
from coder_tui.protocol.display import ImageBlock, TextBlock
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.tools.base import ToolContext
from coder_tui.tools.mcp import BLIND, LONGEST_SHOWN, MOST_PICTURES, UNTRUSTED, result_of_answer

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = Part(PartKind.IMAGE, media_type="image/jpeg", data=PIXEL)
LABEL = UNTRUSTED.format(server="s")


def context(*, sees: bool = True) -> ToolContext:
    return ToolContext("session", "call", Path("/w"), sees_images=sees)


def text(words: str) -> Part:
    return Part(PartKind.TEXT, words)


def test_a_picture_is_identified_by_its_bytes_and_sent_to_a_model_that_sees() -> None:
    result = result_of_answer(Answer((PICTURE,)), "s", context())
    words = "image 1  1×1  image/png  70 B"
    assert result.attachments == (Attachment("image 1", words, "image/png", PIXEL),)
    assert result.for_user == ImageBlock("image 1", "image/png", 1, 1, 70)
    assert result.for_model == {"ok": True, "untrusted": LABEL, "content": "", "images": [words]}


def test_a_model_without_vision_gets_a_note() -> None:
    result = result_of_answer(Answer((text("here"), PICTURE)), "s", context(sees=False))
    assert result.attachments == ()
    assert result.for_model["note"] == BLIND
    assert result.for_user == TextBlock("here\nimage 1  1×1  image/png  70 B")


@pytest.mark.parametrize(
    "data",
    ["no base64!", base64.b64encode(b"<svg onload=x>").decode(), PIXEL + "A" * 8_000_000],
    ids=["garbage", "another kind", "too large"],
)
def test_an_invalid_picture_is_not_passed_on(data: str) -> None:
    result = result_of_answer(
        Answer((Part(PartKind.IMAGE, media_type="image/png", data=data),)), "s", context()
    )
    assert result.attachments == ()
    assert result.for_model["content"] == "[a picture that cannot be shown]"


def test_only_some_of_many_pictures_are_passed_on() -> None:
    assert len(result_of_answer(Answer((PICTURE,) * 30), "s", context()).attachments) == MOST_PICTURES


def test_what_is_structured_is_not_said_twice() -> None:
    same = result_of_answer(Answer((text('{"a": 1}'),), {"a": 1}), "s", context())
    more = result_of_answer(Answer((text("a is one"),), {"a": 1}), "s", context())
    assert same.for_model == {"ok": True, "untrusted": LABEL, "structured": {"a": 1}}
    assert same.for_user == TextBlock('{\n  "a": 1\n}')
    assert more.for_model == {"ok": True, "untrusted": LABEL, "content": "a is one", "structured": {"a": 1}}


def test_links_resources_and_sounds_are_named() -> None:
    parts = (
        Part(PartKind.LINK, "a file", uri="file:///a"),
        Part(PartKind.TEXT, "inside", "text/plain", uri="note://1"),
        Part(PartKind.BINARY, media_type="audio/wav", data="AAAA"),
    )
    result = result_of_answer(Answer(parts), "s", context())
    assert result.for_model["content"] == (
        "file:///a  a file\nnote://1:\ninside\n[audio/wav of 3 bytes, not shown]"
    )


def test_what_is_shown_is_bounded() -> None:
    shown = result_of_answer(Answer((text("x" * 1_000_000),)), "s", context()).for_user
    assert isinstance(shown, TextBlock)
    assert len(shown.text) < LONGEST_SHOWN + 100


@pytest.mark.parametrize(
    ("words", "is_confined", "is_hinted"),
    [
        ("EROFS: read-only file system, open '/w/a'", True, True),
        ("[Errno 13] Permission denied: '/w/a'", True, True),
        ("EROFS: read-only file system", False, False),
        ("no such row", True, False),
    ],
    ids=["erofs", "denied", "unconfined", "other"],
)
def test_a_refused_write_says_what_would_allow_it(words: str, is_confined: bool, is_hinted: bool) -> None:
    answer = Answer((Part(PartKind.TEXT, words),), is_error=True)
    with pytest.raises(ToolError) as caught:
        result_of_answer(answer, "files", context(), is_confined=is_confined)
    assert ('`writable = ["."]` in [mcp.files]' in caught.value.hint) is is_hinted
