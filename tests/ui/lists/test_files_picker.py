"""The list of files: what it offers, and what happens to the chosen one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events

from coder_tui.ui.lists import choosers
from coder_tui.ui.lists.choosers import FilesScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage

NAMES = ("README.md", "src/cart.py", "src/invoice.py", "tests/test_cart.py", "two words.txt")


@asynccontextmanager
async def folder(tmp_path: Path, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Stage]:
    for name in NAMES:
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    async with stage(FakeSession(tmp_path / "project"), size) as s:
        yield s


async def opened(s: Stage) -> FilesScreen:
    await s.until(lambda: isinstance(s.app.screen, FilesScreen) and s.app.screen.list.marked is not None)
    await s.pilot.pause()
    assert isinstance(s.app.screen, FilesScreen)
    return s.app.screen


async def test_the_chosen_file_is_mentioned_in_the_draft(tmp_path: Path) -> None:
    async with folder(tmp_path) as s:
        await s.pilot.press(*"see", "f6")
        picker = await opened(s)
        assert {row for row in NAMES if row in s.drawn()} == set(NAMES)
        await s.pilot.press(*"invo")
        await s.until(lambda: picker.list.counted == "1")
        await s.pilot.press("enter", *"now")
        await s.until(lambda: s.draft == "see @src/invoice.py now")
        assert s.screen.focused is s.screen.prompt


async def test_enter_chooses_what_was_typed_even_before_the_search_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosers, "PATIENCE", 60.0)
    async with folder(tmp_path) as s:
        for key in ("f6", *"two", "enter", *"ok"):
            s.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await s.until(lambda: s.draft == '@"two words.txt" ok')


async def test_enter_never_chooses_from_a_list_that_is_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with folder(tmp_path) as s:
        await s.pilot.press("f6")
        picker = await opened(s)
        monkeypatch.setattr(picker, "_find", lambda query: None)
        await s.pilot.press(*"two", "enter")
        await s.shows("Still searching")
        assert s.app.screen is picker
        assert s.draft == ""


async def test_escape_leaves_the_draft_unchanged(tmp_path: Path) -> None:
    async with folder(tmp_path) as s:
        await s.pilot.press(*"dra ft", "f6")
        await opened(s)
        await s.pilot.press("escape")
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, s.screen.focused) == ("dra ft", s.screen.prompt)


async def test_a_command_with_a_name_filters_the_list(tmp_path: Path) -> None:
    async with folder(tmp_path) as s:
        await s.pilot.press(*"/files cart", "enter")
        picker = await opened(s)
        await s.until(lambda: picker.list.counted == "2")
        assert picker.list.marked is not None
        assert picker.list.marked.key == "src/cart.py"


async def test_a_file_opens_in_the_users_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    async with folder(tmp_path) as s:
        await s.pilot.press("f6")
        await opened(s)
        await s.pilot.press(*"invo", "ctrl+g")
        # Without an editor the reason is said, which shows that one was looked for.
        await s.until(lambda: s.app.screen is s.screen and "editor" in s.drawn().lower())
        assert s.draft == ""


async def test_an_empty_result_is_reported(tmp_path: Path) -> None:
    async with folder(tmp_path) as s:
        await s.pilot.press("f6")
        await opened(s)
        await s.pilot.press(*"zzzz")
        await s.until(
            lambda: "Nothing matches zzzz." in s.drawn() or "There are no files in this folder." in s.drawn()
        )
        await s.pilot.press("enter", "escape", "escape")
        await s.until(lambda: s.app.screen is s.screen)
        assert s.draft == ""
