"""Names of a change, looked up from the pane of changes and from the review."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.agent.diagnostics.lookup import FoundPlace, NamePlace
from coder_tui.protocol.events import FilesChanged
from coder_tui.ui.session.lookup import NamesScreen
from coder_tui.workspace.undo.changed_files import ChangedFile
from tests.fakes.screens import Stage, stage

FILE = ChangedFile(Path("/srv/project/new.py"), 1, b"a = 1\n", b"total = count(a)\n")


async def changed(s: Stage) -> None:
    s.session.files = (FILE,)
    s.session.lookup.words["count"] = "```python\ndef count(x): int\n```\nHow many."
    s.session.emit(FilesChanged(("new.py",)))
    await s.shows("M new.py")


def is_listed(s: Stage) -> bool:
    return isinstance(s.app.screen, NamesScreen) and "Names in this change" in s.drawn()


async def test_h_in_a_diff_shows_what_a_name_is() -> None:
    async with stage(size=(160, 40)) as s:
        await changed(s)
        await s.pilot.press("f3", "enter", "h")
        await s.until(lambda: is_listed(s) and "Nothing is known of it." in s.drawn())
        await s.pilot.press("down")
        await s.shows("def count(x): int  How many.")
        await s.pilot.press("escape")
        await s.until(lambda: not is_listed(s))
        assert s.app.focused is s.screen.widgets.dock.changes.diff


async def test_an_answer_about_a_name_that_is_not_marked_any_more_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answering, answered = asyncio.Event(), asyncio.Event()

    async def hover(path: str, place: NamePlace) -> str:
        try:
            await answering.wait()
        finally:
            answered.set()
        return "An int."

    async with stage(size=(160, 40)) as s:
        await changed(s)
        monkeypatch.setattr(s.session.lookup, "hover", hover)
        await s.pilot.press("f3", "enter", "h")
        await s.until(lambda: is_listed(s) and "Asking" in s.drawn())
        await s.pilot.press(*"zz")
        await s.shows("Nothing matches zz.")
        answering.set()
        await answered.wait()
        await s.pilot.pause()
        assert "An int." not in s.drawn()


async def test_enter_explains_why_it_cannot_open_a_definition() -> None:
    async with stage(size=(160, 40)) as s:
        await changed(s)
        await s.pilot.press("f3", "enter", "h")
        await s.until(lambda: is_listed(s))
        await s.pilot.press("enter")
        await s.shows("total of new.py:0 comes from nowhere.")


async def test_enter_opens_the_definition_from_the_review() -> None:
    async with stage(size=(160, 40)) as s:
        await changed(s)
        s.session.lookup.places["count"] = FoundPlace("lib.py", 7, 5)
        opened: list[tuple[str, int, int]] = []
        s.screen.widgets.reader.open_place = lambda *place: opened.append(place)  # type: ignore[method-assign]  # no editor here
        await s.pilot.press("f3", "f3")
        await s.until(lambda: "total = count" in s.drawn() and s.app.screen is not s.screen)
        await s.pilot.press("h")
        await s.until(lambda: is_listed(s))
        await s.pilot.press("down", "enter")
        await s.until(lambda: opened == [("lib.py", 7, 5)])
