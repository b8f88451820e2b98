"""Questions that a server refuses, puts off, or answers oddly."""

import os
from pathlib import Path

import pytest

from coder_tui.lsp.document import path_of, uri_of
from coder_tui.lsp.questions import Asker
from coder_tui.lsp.wire import Answered, Place, Question
from coder_tui.protocol.diagnostics import ServerStatus
from tests.fakes.lsp_checkers import ENOUGH, Asked, fake_checker


async def definition(it: Asked, seconds: float = ENOUGH) -> Answered:
    return await Asker(it.checker).ask(
        Question.DEFINITION, seconds, path=it.path, text="x\n", language="python"
    )


async def test_a_server_that_asks_for_another_try_gets_it(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "busy") as it:
        place = Place(Path(it.path).as_uri(), 0, 0, 0, 0, "x")
        assert await definition(it) == Answered(ServerStatus.FRESH, places=(place,))


async def test_a_server_that_refuses_works_and_its_words_are_told(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "unwilling") as it:
        assert await definition(it) == Answered(ServerStatus.PENDING, detail="it refused: no such index")


async def test_an_address_that_is_none_is_told_as_it_is(tmp_path: Path) -> None:
    async with fake_checker(tmp_path / "w", "strange") as it:
        assert await definition(it) == Answered(ServerStatus.FRESH, places=(Place("file://[x", 0, 0, 0, 3),))


@pytest.mark.parametrize(
    "name", [b"a b.py", b"a%20b.py", "ü#?;x.py".encode(), "😀.py".encode(), b"caf\xe9.py", b"a\nb.py"]
)
def test_every_name_survives_the_way_there_and_back(name: bytes) -> None:
    path = os.fsdecode(b"/w/" + name)
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize("uri", ["untitled:1", "https://example.org/a.py", "file://[x", "file:///a%00b", ""])
def test_what_is_no_file_has_no_path(uri: str) -> None:
    assert path_of(uri) == ""
