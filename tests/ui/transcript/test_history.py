"""Selecting, copying and drawing in a history of any length."""

from textual.geometry import Offset, Region
from textual.selection import SELECT_ALL, Selection
from textual.strip import Strip

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import Outcome
from coder_tui.ui.draw.entries import UserEntry
from coder_tui.ui.draw.entry_strips import KEPT
from coder_tui.ui.transcript.history import History
from tests.ui.transcript_app import TranscriptApp, drawn, fill


async def test_selected_rows_are_copied_as_they_are_seen() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 3)
        await drawn(pilot)
        app.screen.selections = {app.transcript.history: Selection(Offset(6, 0), Offset(9, 2))}
        assert app.screen.get_selected_text() == "message 0\n\n▌you  mes"


async def test_a_selection_is_painted() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 1)
        await drawn(pilot)
        history, region = app.transcript.history, Region(0, 0, app.transcript.history.size.width, 1)
        before = history.render_lines(region)
        app.screen.selections = {history: Selection(Offset(6, 0), Offset(9, 0))}
        (after,) = history.render_lines(region)
        assert after.text == before[0].text
        assert after.crop(6, 9) != before[0].crop(6, 9)
        assert after.crop(0, 6) == before[0].crop(0, 6)


async def test_a_double_click_selects_the_block_under_it() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 3)
        await drawn(pilot)
        await pilot.click(History, offset=(8, 2), times=2)
        assert app.screen.get_selected_text() == "▌you  message 1"


async def test_everything_is_copied_without_drawing_everything() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 5000)
        await drawn(pilot)
        history = app.transcript.history
        before = history.strips.drawings
        app.screen.selections = {history: SELECT_ALL}
        text = app.screen.get_selected_text()
        assert text is not None
        assert (text.count("message"), history.strips.drawings - before) == (5000, 0)


async def test_a_resize_drops_the_selection() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 3)
        await drawn(pilot)
        app.screen.selections = {app.transcript.history: Selection(Offset(0, 0), Offset(5, 1))}
        await pilot.resize_terminal(60, 20)
        await drawn(pilot)
        assert app.screen.selections == {}


async def test_only_what_is_near_the_view_is_drawn() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        fill(app.transcript, 5000)
        await drawn(pilot)
        assert app.transcript.history.strips.drawings < 100


async def test_the_cache_of_strips_is_bounded() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        fill(app.transcript, 2000)
        await drawn(pilot)
        history = app.transcript.history
        history.rows(0, history.index.total)
        assert history.strips.cached <= KEPT


async def test_a_copied_call_is_safe() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 5)) as pilot:
        fill(app.transcript, 500)
        app.transcript.finish_tool(ToolFinished("a", "read", Outcome.OK, "x", TextBlock("\x1b[2Jhidden"), 0))
        await drawn(pilot)
        app.screen.selections = {app.transcript.history: SELECT_ALL}
        text = app.screen.get_selected_text()
        assert text is not None
        assert text.endswith("read x\n␛[2Jhidden")


async def test_the_same_rows_are_the_same_strips() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 3)
        await drawn(pilot)
        history = app.transcript.history
        pairs = zip(history.rows(0, 5), history.rows(0, 5), strict=True)
        assert [one is other for one, other in pairs if one.text.strip()] == [True, True, True]


async def test_rows_drawn_elsewhere_count_towards_the_bound() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        await drawn(pilot)
        history = app.transcript.history
        for number in range(KEPT + 5):
            history.add(UserEntry(f"message {number}"), [Strip.blank(history.strips.width)])
        assert history.strips.cached == KEPT
