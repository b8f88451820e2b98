"""An editor's prompt becomes a user message."""

import base64
from pathlib import Path

import pytest
from acp.helpers import (
    ContentBlock,
    audio_block,
    embedded_blob_resource,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)

from coder_tui.acp.prompts import LONGEST, Prompt, read_prompt
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.messages import Attachment

FOLDER = Path("/srv/project")
PIXEL = base64.b64encode(b"pixel").decode()


def read(*blocks: ContentBlock) -> Prompt:
    return read_prompt(blocks, FOLDER)


def test_a_linked_file_becomes_a_mention() -> None:
    link = resource_link_block("a b.py", "file:///srv/project/src/a%20b.py")
    outside = resource_link_block("hosts", "file:///etc/hosts")
    page = resource_link_block("page", "https://example.org/x")
    assert read(text_block("Look at"), link, outside, page) == Prompt(
        'Look at @"src/a b.py"  @/etc/hosts https://example.org/x', ()
    )


def test_text_of_an_unsaved_file_is_attached_unchanged() -> None:
    resource = resource_block(embedded_text_resource("file:///srv/project/a.py", "unsaved\n"))
    assert read(text_block("See "), resource) == Prompt("See [a.py]", (Attachment("a.py", "unsaved\n"),))


def test_a_text_that_is_too_long_is_cut_off_and_says_so() -> None:
    resource = resource_block(embedded_text_resource("untitled:1", "x" * (LONGEST + 5)))
    [attachment] = read(resource).attachments
    assert attachment.text.endswith("x\n(cut off here; 5 more characters)")


def test_a_picture_is_attached_and_other_bytes_are_only_named() -> None:
    blob = resource_block(
        embedded_blob_resource("file:///srv/project/a.zip", PIXEL, mime_type="application/zip")
    )
    assert read(image_block(PIXEL, "image/png"), blob).attachments == (
        Attachment("picture 1", "image/png", "image/png", PIXEL),
        Attachment("a.zip", "(application/zip, not shown)"),
    )


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (text_block("  \n"), "empty"),
        (audio_block(PIXEL, "audio/wav"), "audio"),
        (image_block(PIXEL, "image/svg+xml"), "svg"),
        (image_block("not base64!", "image/png"), "base64"),
    ],
    ids=["empty", "sound", "svg", "data"],
)
def test_content_that_no_model_accepts_is_refused(block: ContentBlock, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read(block)
