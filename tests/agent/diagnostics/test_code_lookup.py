"""What the user learns about a name in a change."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.agent.diagnostics.lookup import CHANGED, CodeLookup, FoundPlace, NamePlace
from coder_tui.lsp.pool import LspPool
from coder_tui.workspace.files.confine import Workspace
from tests.fakes.lsp_pools import faked, pool_in

NAME = NamePlace("count", 1, 8)


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[LspPool]:
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "a.py").write_text("one = 1\ntotal = count(one)\n")
    (tmp_path / "w" / "a.txt").write_text("one = 1\ntotal = count(one)\n")
    made = pool_in(tmp_path / "w", faked())
    yield made
    await made.close()


async def test_a_name_has_words_and_a_place(tmp_path: Path, pool: LspPool) -> None:
    lookup = CodeLookup(pool, Workspace(tmp_path / "w"))
    assert "x: int" in await lookup.hover("a.py", NAME)
    assert await lookup.definition("a.py", NAME) == FoundPlace("a.py", 2, 9)


async def test_without_an_answer_there_is_a_sentence(tmp_path: Path, pool: LspPool) -> None:
    lookup = CodeLookup(pool, Workspace(tmp_path / "w"))
    assert await lookup.hover("a.py", NamePlace("count", 0, 8)) == CHANGED
    assert await lookup.definition("gone.py", NAME) == "No file or folder at gone.py."
    assert (await lookup.hover("a.txt", NAME)).startswith("No language server supports this for a.txt.")
