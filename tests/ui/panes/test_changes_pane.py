"""The list of changed files and the diff below it, on the real screen."""

from pathlib import Path
from typing import cast

import pytest

from coder_tui.agent.session import Session
from coder_tui.protocol.errors import StorageError
from coder_tui.protocol.events import FilesChanged
from coder_tui.ui.panes.changes import ChangesFeed, ShownChange, shortened, shown_change
from coder_tui.ui.panes.names import PaneName
from coder_tui.workspace.undo.changed_files import ChangedFile
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage

ROOT = Path("/srv/project")
LONG = "".join(f"line {number}\n" for number in range(60))


def changed(name: str, before: bytes | None, after: bytes | None, turn: int = 1) -> ChangedFile:
    return ChangedFile(ROOT / name, turn, before, after)


FILES = (
    changed("a.py", b"x = 1\n", b"x = 2\ny = 3\n"),
    changed("b.py", None, b"fresh = True\n"),
    changed("c.py", b"old = 1\n", None),
    changed("d.bin", b"\x00\x01", b"\x00\x02"),
    ChangedFile(ROOT / "e.log", 1, None, None, is_too_large=True),
    changed(
        "f.txt", LONG.encode(), LONG.replace("line 3\n", "LINE\n").replace("line 50\n", "END\n").encode()
    ),
)


async def show(s: Stage, *files: ChangedFile) -> None:
    s.session.files = files
    s.session.emit(FilesChanged(("a.py",)))
    await s.until(lambda: s.screen.widgets.dock.count(PaneName.CHANGES) == (str(len(files)) if files else ""))
    await s.pilot.pause()


def rows(s: Stage) -> list[str]:
    """Return the rows of the list, without repeated blanks."""
    listed = s.screen.widgets.dock.changes.target
    return [" ".join(strip.text.split()) for strip in listed.render_lines(listed.size.region)]


async def test_each_file_says_what_happened_to_it() -> None:
    async with stage(size=(150, 50)) as s:
        await show(s, *FILES)
        assert rows(s) == [
            "▌M a.py +2 -1 ○",
            "A b.py +1 -0 ○",
            "D c.py +0 -1 ○",
            "M d.bin",
            "M e.log",
            "M f.txt +2 -2 ○ ○",
        ]


async def test_decisions_show_as_dots_or_as_numbers_if_there_are_many() -> None:
    async with stage(size=(150, 50)) as s:
        await show(s, FILES[0], FILES[5])
        many = (True,) * 3 + (False,) + (None,) * 12
        s.screen.widgets.dock.changes.show_decisions({ROOT / "a.py": many, ROOT / "f.txt": (True, False)})
        assert rows(s) == ["▌M a.py +2 -1 ●3 ✗1 ○12", "M f.txt +2 -2 ● ✗"]


async def test_the_diff_is_that_of_the_marked_file_from_its_top() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, *FILES)
        await s.shows("+ y = 3")
        await s.pilot.press("f3", "j")
        await s.shows("+ fresh = True")
        await s.pilot.press("G")
        await s.shows("LINE")
        assert s.screen.widgets.dock.changes.diff.scroll_offset.y == 0
        await s.pilot.press("k", "k")
        await s.shows("binary")
        await s.pilot.press("j")
        await s.shows("too large to show")


async def test_the_mark_stays_on_its_file_when_others_come() -> None:
    async with stage(size=(150, 50)) as s:
        await show(s, FILES[0], FILES[2])
        await s.pilot.press("f3", "j")
        assert s.screen.widgets.dock.changes.marked == ROOT / "c.py"
        await show(s, *FILES)
        assert s.screen.widgets.dock.changes.marked == ROOT / "c.py"


async def test_enter_goes_into_the_diff_and_escape_back_to_the_prompt() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, *FILES)
        await s.pilot.press("f3", "enter")
        assert s.screen.widgets.dock.changes.diff.has_focus
        await s.pilot.press("escape")
        assert s.screen.prompt.has_focus


async def test_enter_gives_a_diff_the_whole_screen_if_the_pane_is_too_small() -> None:
    async with stage(size=(110, 30)) as s:
        await show(s, *FILES)
        await s.until(lambda: not s.screen.widgets.dock.changes.diff.display)
        await s.pilot.press("f3", "enter")
        await s.until(lambda: s.screen.widgets.dock.changes.diff.has_focus and "+ y = 3" in s.drawn())
        assert s.screen.widgets.dock.region.width == 110
        await s.pilot.press("escape")
        await s.until(lambda: s.screen.widgets.dock.region.width == 34)
        assert s.screen.prompt.has_focus


async def test_page_keys_scroll_the_diff_that_has_the_focus() -> None:
    async with stage(size=(150, 24)) as s:
        await show(s, changed("new.txt", None, LONG.encode()))
        await s.pilot.press("f3", "enter", "pagedown")
        assert s.screen.widgets.dock.changes.diff.scroll_offset.y > 0
        await s.pilot.press("pageup")
        assert s.screen.widgets.dock.changes.diff.scroll_offset.y == 0


async def test_undoing_all_changes_hides_the_pane() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, FILES[0])
        assert s.screen.widgets.dock.display
        await show(s)
        await s.until(lambda: not s.screen.widgets.dock.display)


async def test_only_the_newest_turn_can_be_shown() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, *FILES)
        s.session.files = ()
        await s.pilot.press("f3", "t")
        await s.until(lambda: "changes 0 this turn" in s.drawn() and "Nothing changed in this" in s.drawn())
        s.session.files = FILES
        await s.pilot.press("t")
        await s.shows("changes 6 ─")


async def test_file_names_cannot_control_the_terminal() -> None:
    async with stage(size=(150, 40)) as s:
        await show(s, changed("a\x1b[2J\n\u202eb[red].py", None, b"1\n"))
        assert not {"\x1b", "\u202e"} & set(s.drawn())
        await s.shows("[red].py")


@pytest.mark.parametrize(
    ("room", "expected"),
    [(30, "src/package/module.py"), (18, "src/pac…/module.py"), (9, "module.py"), (6, "modul…")],
)
def test_a_path_keeps_the_name_of_its_file_longest(room: int, expected: str) -> None:
    assert shortened("src/package/module.py", room, "…") == expected


class Failing(FakeSession):
    async def changed_files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
        raise StorageError("the kept copy is damaged")


async def test_a_damaged_copy_is_reported_and_harmless() -> None:
    async with stage(Failing(ROOT)) as s:
        await s.shows("The changes cannot be shown: the kept copy is damaged")
        await s.pilot.press(*"hi")
        assert s.draft == "hi"


async def test_many_calls_at_once_cost_one_more_reading() -> None:
    readings: list[int] = []

    class Counting(FakeSession):
        async def changed_files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
            readings.append(since_turn)
            return await super().changed_files(since_turn)

    async with stage(Counting(ROOT), size=(150, 40)) as s:
        before = len(readings)
        s.session.emit(*[FilesChanged(("a.py",))] * 50)
        await s.until(lambda: len(readings) > before)
        await s.pilot.pause()
        assert len(readings) - before <= 3


async def test_a_file_that_did_not_change_again_is_not_compared_again() -> None:
    seen: list[tuple[ShownChange, ...]] = []
    session = FakeSession(ROOT)
    session.files = FILES[:2]
    feed = ChangesFeed(cast(Session, session), seen.append, lambda words: None)
    await feed.read()
    session.files = (FILES[0], changed("b.py", None, b"fresh = False\n"))
    await feed.read()
    assert seen[1][0] is seen[0][0]
    assert seen[1][1] == shown_change(session.files[1], ROOT)
