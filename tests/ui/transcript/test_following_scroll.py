"""Where the reader stands, whatever comes and goes around."""

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import Outcome
from tests.ui.transcript_app import TranscriptApp, drawn, fill, filled_rows, finish, screen_rows


async def test_the_view_follows_until_the_reader_goes_up() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        transcript = app.transcript
        fill(transcript, 50)
        await drawn(pilot)
        transcript.view.scroll_page_up()
        await drawn(pilot)
        place = screen_rows(app)
        transcript.add_user("x", "new")
        transcript.stream_text("m", "and more")
        await drawn(pilot)
        assert (transcript.view.is_following, screen_rows(app), app.news) == (False, place, [1, 2])
        transcript.view.follow()
        await drawn(pilot)
        assert (transcript.view.is_following, filled_rows(app)[-1], app.news) == (
            True,
            "◆ and more",
            [1, 2, 0],
        )


async def test_scrolling_back_to_the_end_follows_again() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        fill(app.transcript, 50)
        await drawn(pilot)
        app.transcript.view.scroll_page_up()
        app.transcript.view.scroll_page_down()
        app.transcript.add_user("x", "new")
        await drawn(pilot)
        assert filled_rows(app)[-1] == "▌you  new"


async def test_a_short_transcript_starts_at_the_top() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        app.transcript.add_user("x", "hello")
        await drawn(pilot)
        assert (screen_rows(app)[0], app.transcript.view.scroll_y) == ("▌you  hello", 0)


async def test_a_resize_keeps_the_top_line() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 12)) as pilot:
        words = " ".join(f"w{number}" for number in range(600))
        fill(app.transcript, 30)
        app.transcript.finish_message("m", words, "", interrupted=False)
        fill(app.transcript, 30)
        await drawn(pilot)
        app.transcript.view.scroll_to(y=app.transcript.history.index.start(30) + 10)
        await drawn(pilot)
        before = screen_rows(app)
        first_word = before[0].split()[0]
        for size in ((44, 12), (120, 9), (61, 12)):
            await pilot.resize_terminal(*size)
            await drawn(pilot)
            assert first_word in screen_rows(app)[0].split()
        await pilot.resize_terminal(80, 12)
        await drawn(pilot)
        assert screen_rows(app) == before


async def test_a_block_that_grows_above_leaves_the_view_where_it_is() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        transcript = app.transcript
        transcript.start_tool("a", "shell", ToolKind.EXECUTE, "make")
        fill(transcript, 30)
        await drawn(pilot)
        transcript.view.scroll_to(y=20)
        await drawn(pilot)
        before = screen_rows(app)
        transcript.finish_tool(ToolFinished("a", "shell", Outcome.FAILED, "make", TextBlock("x\n" * 10), 0))
        await drawn(pilot)
        assert screen_rows(app) == before


async def test_folding_everything_keeps_the_reader_at_the_same_block() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        for number in range(40):
            app.transcript.add_user("u", f"question {number}")
            finish(app.transcript, f"c{number}", text="a\nb\nc")
        await drawn(pilot)
        app.transcript.view.scroll_to(y=app.transcript.history.index.start(40) + 1)
        await drawn(pilot)
        top = screen_rows(app)[0]
        app.transcript.toggle_fold()
        await drawn(pilot)
        assert (top, screen_rows(app)[0]) == ("▌you  question 20", "▌you  question 20")


async def test_j_and_k_go_through_the_blocks_and_bring_them_into_view() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 6)) as pilot:
        fill(app.transcript, 20)
        app.transcript.view.focus()
        await drawn(pilot)
        await pilot.press("k", "k", "k", "k", "k")
        await drawn(pilot)
        assert (app.transcript.history.cursor, screen_rows(app)[1]) == (15, "▌you  message 15")
        await pilot.press(*"jjjjjjjj")
        await drawn(pilot)
        assert (app.transcript.history.cursor, app.transcript.view.is_following) == (19, True)
