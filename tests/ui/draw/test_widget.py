"""What takes long to draw is drawn in a thread, and counts as seen only once it is complete."""

import threading
from collections.abc import Callable
from time import monotonic

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip

from coder_tui.protocol.events import RequestOpened
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import plain_strip
from coder_tui.ui.draw.widget import DrawnAtOnce, is_long
from coder_tui.ui.requests.dialog_frame import MustReadScroll
from coder_tui.ui.requests.preview import BlockView
from coder_tui.ui.themes import load_themes
from tests.fakes.screens import shell_request, stage

pytestmark = pytest.mark.real_time

PATIENCE = 60.0


class SlowLines(DrawnAtOnce):
    """Ten rows, as soon as the test says so."""

    is_long = True

    def __init__(self) -> None:
        super().__init__()
        self.may_draw = threading.Event()
        self.widths: list[int] = []

    def draw(self, width: int, palette: Palette) -> list[Strip]:
        assert self.may_draw.wait(PATIENCE)
        self.widths.append(width)
        return [plain_strip(f"row {number}", width, palette.base) for number in range(10)]


class SlowApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.lines = SlowLines()
        self.scroll = MustReadScroll(id="seen")
        theme = load_themes(None).themes[0]
        self.register_theme(theme)
        self.theme = theme.name

    def compose(self) -> ComposeResult:
        with self.scroll:
            yield self.lines


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not condition():
        assert monotonic() < end
        await pilot.pause(0.01)


async def test_the_end_counts_as_seen_only_once_it_is_drawn() -> None:
    app = SlowApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: app.lines.size.height == 1)
        app.scroll.mark_seen()
        assert (app.lines.is_drawn, app.scroll.is_end_seen) == (False, False)
        app.lines.may_draw.set()
        await until(pilot, lambda: app.lines.is_drawn and app.lines.size.height == 10)
        app.scroll.mark_seen()
        assert app.scroll.is_end_seen


async def test_another_width_is_drawn_again_and_the_old_rows_stay_until_then() -> None:
    app = SlowApp()
    async with app.run_test(size=(60, 20)) as pilot:
        app.lines.may_draw.set()
        await until(pilot, lambda: app.lines.is_drawn)
        app.lines.may_draw.clear()
        await pilot.resize_terminal(50, 20)
        await until(pilot, lambda: not app.lines.is_drawn)
        assert [strip.text.strip() for strip in app.lines.rows(0, 10)] == [f"row {n}" for n in range(10)]
        app.lines.may_draw.set()
        await until(pilot, lambda: app.lines.is_drawn)
        assert app.lines.widths[-1] == app.lines.size.width


async def test_a_long_command_is_answered_once_its_end_was_seen() -> None:
    command = "echo word and word; " * 10_000
    assert is_long(command)
    async with stage() as s:
        s.session.emit(RequestOpened(shell_request("r1", command)))
        dialog = await s.ready_dialog()
        await s.until(lambda: all(widget.is_drawn for widget in dialog.query(BlockView)))
        await s.pilot.press("ctrl+y")
        await s.shows("Scroll to the end first")
        await s.pilot.press("end")
        await s.until(lambda: dialog._dialog.is_end_seen)
        await s.pilot.press("ctrl+y")
        await s.until(lambda: len(s.session.answers) == 1)
