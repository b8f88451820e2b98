"""Questions that a server refuses, delays or answers strangely."""

import os
from pathlib import Path

import pytest

from coder_tui.lsp.document import path_of, uri_of
from coder_tui.lsp.questions import Asker, Inquiry
from coder_tui.lsp.wire import Answered, Place, Question
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_checkers import ENOUGH, Asked, fake_checker


async def definition(it: Asked, seconds: float = ENOUGH) -> Answered:
    return await Asker(it.checker).ask(
        Inquiry(Question.DEFINITION, seconds, path=it.path, text="x\n", language="python")
    )


async def test_a_retryable_refusal_is_retried(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "busy") as it:
        place = Place(Path(it.path).as_uri(), 0, 0, 0, 0, "x")
        assert await definition(it) == Answered(ServerStatus.FRESH, places=(place,))


async def test_a_refusal_is_reported_with_the_servers_message(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "unwilling") as it:
        assert await definition(it) == Answered(ServerStatus.PENDING, detail="it refused: no such index")


async def test_an_invalid_uri_is_passed_on_unchanged(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "strange") as it:
        assert await definition(it) == Answered(ServerStatus.FRESH, places=(Place("file://[x", 0, 0, 0, 3),))


@pytest.mark.parametrize(
    "name", [b"a b.py", b"a%20b.py", "ü#?;x.py".encode(), "😀.py".encode(), b"caf\xe9.py", b"a\nb.py"]
)
def test_every_file_name_survives_a_round_trip(name: bytes) -> None:
    path = os.fsdecode(b"/w/" + name)
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize("uri", ["untitled:1", "https://example.org/a.py", "file://[x", "file:///a%00b", ""])
def test_a_uri_that_is_not_a_file_has_no_path(uri: str) -> None:
    assert path_of(uri) == ""
