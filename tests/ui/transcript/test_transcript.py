"""The transcript through its public methods, on a real (headless) screen."""

from collections.abc import Callable

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import NoticeLevel, Outcome
from coder_tui.ui.transcript.scroll import TranscriptView
from coder_tui.ui.transcript.transcript import Transcript
from tests.ui.transcript_app import (
    TranscriptApp,
    count_layouts,
    drawn,
    fill,
    filled_rows,
    finish,
    screen_rows,
    unsafe_characters,
)

HOSTILE = "\x1b]52;c;aGk=\x07 \x1b[2J \x9b31m \u202eabc \u200b [@click=app.quit]x[/] [/b]"


async def test_a_streamed_reply_is_below_the_question() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.add_user("u", "why?")
        for word in ("Be", "cause **of", "** that."):
            app.transcript.stream_text("m", word)
        await drawn(pilot)
        assert filled_rows(app) == ["▌you  why?", "◆ Because of that."]


async def test_a_finished_reply_looks_as_it_did_while_it_streamed() -> None:
    app = TranscriptApp()
    text = "one\n\n- two\n- three\n\n```python\nx = 1\n```\n\nend"
    async with app.run_test() as pilot:
        app.transcript.stream_text("m", text)
        await drawn(pilot)
        before = screen_rows(app)
        app.transcript.finish_message("m", text, "", interrupted=False)
        await drawn(pilot)
        # The blank row above a first entry is only there while the entry is not in the history yet.
        assert [row for row in screen_rows(app) if row] == [row for row in before if row]
        assert app.transcript.tail.is_empty


async def test_the_finished_text_replaces_what_was_streamed() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.stream_text("m", "half a wo")
        app.transcript.finish_message("m", "whole", "", interrupted=False)
        await drawn(pilot)
        assert filled_rows(app) == ["◆ whole"]


async def test_a_stored_reply_needs_no_stream() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.finish_message("m", "text", "a thought\nof two lines", interrupted=True)
        await drawn(pilot)
        assert filled_rows(app) == ["◇ thought  a thought of two lines", "◆ text", "· Stopped by you."]


async def test_calls_are_below_their_reply_and_above_the_next() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        transcript = app.transcript
        transcript.stream_text("m1", "first")
        transcript.tail.propose("a", "read", 10)
        transcript.finish_message("m1", "first", "", interrupted=False)
        transcript.start_tool("a", "read", ToolKind.READ, "a")
        transcript.start_tool("b", "read", ToolKind.READ, "b")
        finish(transcript, "b")
        finish(transcript, "a")
        transcript.stream_text("m2", "second")
        await drawn(pilot)
        assert filled_rows(app) == ["◆ first", "✓ read  a", "✓ read  b", "◆ second"]


async def test_a_call_that_starts_before_its_reply_is_finished_keeps_the_order() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        transcript = app.transcript
        transcript.stream_text("m1", "first")
        transcript.start_tool("a", "read", ToolKind.READ, "a")
        transcript.finish_message("m1", "first", "", interrupted=False)
        finish(transcript, "a")
        await drawn(pilot)
        assert filled_rows(app) == ["◆ first", "✓ read  a"]


async def test_a_call_is_shown_from_proposal_to_end() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 10)) as pilot:
        transcript = app.transcript
        seen: list[list[str]] = []
        steps: tuple[Callable[[], None], ...] = (
            lambda: transcript.tail.propose("a", "shell", 1200),
            lambda: transcript.finish_message("m", "", "", interrupted=False),
            lambda: transcript.start_tool("a", "shell", ToolKind.EXECUTE, "make"),
            lambda: transcript.calls.wait("a"),
            lambda: transcript.calls.resume("a"),
            lambda: transcript.calls.progress("a", "out\n"),
            lambda: transcript.finish_tool(
                ToolFinished("a", "shell", Outcome.CANCELLED, "make", TextBlock(""), 0)
            ),
        )
        for step in steps:
            step()
            await drawn(pilot)
            seen.append([" ".join(row.split()) for row in filled_rows(app)])
        assert seen == [
            ["○ shell is being written, 1,200 characters"],
            ["○ shell comes next"],
            ["▶ shell make running"],
            ["? shell make waiting for you F8 answer"],
            ["▶ shell make running"],
            ["▶ shell make running", "│ out"],
            ["■ shell make stopped", "│ out"],
        ]


async def test_live_output_is_read_as_a_terminal_would_whatever_its_pieces() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(60, 10)) as pilot:
        transcript = app.transcript
        transcript.start_tool("a", "shell", ToolKind.EXECUTE, "make")
        for piece in ("\x1b[3", "2mstep 1\x1b[", "0m\r", "\nload 10%", "\rload 5", "5%\x1b[K\r", "load 99%"):
            transcript.calls.progress("a", piece)
        await drawn(pilot)
        assert filled_rows(app)[1:] == ["│ step 1", "│ load 99%"]


async def test_unknown_calls_are_ignored_and_a_finished_one_is_shown() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.calls.wait("x")
        app.transcript.calls.resume("x")
        app.transcript.calls.progress("x", "out")
        finish(app.transcript, "x", Outcome.FAILED, "reason")
        await drawn(pilot)
        rows = [" ".join(row.split()) for row in filled_rows(app)]
        assert rows == ["✗ read x failed", "│ reason"]


async def test_seconds_are_counted_while_a_call_runs_and_only_then() -> None:
    now = [0.0]
    app = TranscriptApp(Transcript(clock=lambda: now[0]))
    async with app.run_test() as pilot:
        calls = app.transcript.calls
        ticking = [calls.is_ticking]
        app.transcript.start_tool("a", "shell", ToolKind.EXECUTE, "make")
        ticking.append(calls.is_ticking)
        now[0] = 12.7
        calls.tick()
        await drawn(pilot)
        assert filled_rows(app)[0].endswith("running 12s")
        app.transcript.calls.wait("a")
        ticking.append(calls.is_ticking)
        app.transcript.calls.resume("a")
        ticking.append(calls.is_ticking)
        finish(app.transcript, "a")
        ticking.append(calls.is_ticking)
        assert ticking == [False, True, False, True, False]


async def test_a_discarded_stream_leaves_its_reason_only() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.stream_text("m", "does not count")
        app.transcript.tail.propose("a", "edit", 5)
        await drawn(pilot)
        app.transcript.discard_stream("The server was busy.")
        app.transcript.stream_text("m", "again")
        await drawn(pilot)
        assert filled_rows(app) == ["· The server was busy.", "◆ again"]


async def test_thinking_cycles_through_full_hidden_and_summary() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.finish_message("m", "text", "one\ntwo", interrupted=False)
        seen = []
        for _ in range(4):
            await drawn(pilot)
            seen.append(filled_rows(app))
            app.transcript.cycle_thinking()
        summary = ["◇ thought  one two", "◆ text"]
        assert seen == [summary, ["◇ one", "  two", "◆ text"], ["◆ text"], summary]


async def test_thinking_cycles_also_while_all_calls_are_open() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.finish_message("m", "", "one\ntwo", interrupted=False)
        app.transcript.toggle_fold()
        seen = []
        for _ in range(3):
            await drawn(pilot)
            seen.append(filled_rows(app))
            app.transcript.cycle_thinking()
        assert seen == [["◇ thought  one two"], ["◇ one", "  two"], []]


async def test_thinking_in_progress_is_shown() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.stream_thinking("m", "first line\nsecond")
        app.transcript.stream_thinking("m", " line")
        await drawn(pilot)
        assert filled_rows(app) == ["◇ thinking  second line"]


async def test_folding_opens_one_block_or_all() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        finish(app.transcript, "a", text="alpha")
        finish(app.transcript, "b", text="beta")
        await drawn(pilot)
        assert "│ beta" not in screen_rows(app)
        app.transcript.view.focus()
        await pilot.press("o")
        await drawn(pilot)
        assert [row for row in filled_rows(app) if row.startswith("│")] == ["│ beta"]
        app.transcript.toggle_fold()
        await drawn(pilot)
        assert [row for row in filled_rows(app) if row.startswith("│")] == ["│ alpha", "│ beta"]
        app.transcript.toggle_fold()
        await drawn(pilot)
        assert [row for row in filled_rows(app) if row.startswith("│")] == []


async def test_a_click_marks_the_block_that_o_folds() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        finish(app.transcript, "a", text="alpha")
        finish(app.transcript, "b", text="beta")
        await drawn(pilot)
        await pilot.click(TranscriptView, offset=(3, 0))
        await pilot.press("o")
        await drawn(pilot)
        assert [row for row in filled_rows(app) if row.startswith("│")] == ["│ alpha"]


async def test_an_edit_can_be_folded_away() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        diff = DiffBlock("a.py", "@@ -1 +1 @@\n-x\n+y\n", 1, 1)
        app.transcript.finish_tool(ToolFinished("a", "edit", Outcome.OK, "a.py +1 -1", diff, 0))
        app.transcript.view.focus()
        await drawn(pilot)
        rows = [len(filled_rows(app))]
        await pilot.press("o")
        await drawn(pilot)
        rows.append(len(filled_rows(app)))
        assert rows == [3, 1]


async def test_hostile_text_reaches_the_screen_harmless_by_every_way() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(120, 60)) as pilot:
        transcript = app.transcript
        transcript.add_user("u", HOSTILE)
        transcript.add_note(NoticeLevel.ERROR, HOSTILE)
        transcript.finish_message("m0", HOSTILE, HOSTILE, interrupted=False)
        transcript.discard_stream(HOSTILE)
        transcript.start_tool("a", HOSTILE, ToolKind.EXECUTE, HOSTILE)
        transcript.calls.progress("a", HOSTILE)
        transcript.finish_tool(ToolFinished("b", HOSTILE, Outcome.FAILED, HOSTILE, TextBlock(HOSTILE), 0))
        transcript.stream_thinking("m", HOSTILE)
        for character in HOSTILE:
            transcript.stream_text("m", character)
        transcript.tail.propose("c", HOSTILE, 3)
        await drawn(pilot)
        rows = filled_rows(app)
        assert unsafe_characters("".join(rows)) == set()
        assert sum("<U+202E>abc" in row for row in rows) == 12
        assert sum("[@click=app.quit]x[/]" in row for row in rows) == 12


async def test_a_line_end_split_over_two_chunks_is_one() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.stream_text("m", "- a\r")
        app.transcript.stream_text("m", "\n- b")
        app.transcript.finish_message("m", "- a\r\n- b", "", interrupted=False)
        await drawn(pilot)
        assert filled_rows(app) == ["◆   • a", "    • b"]


async def test_ten_thousand_blocks_need_few_widgets_and_scroll() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 20)) as pilot:
        fill(app.transcript, 10_000)
        await drawn(pilot)
        assert filled_rows(app)[-1] == "▌you  message 9999"
        app.transcript.view.focus()
        await pilot.press("pageup")
        await drawn(pilot)
        assert filled_rows(app)[-1] == "▌you  message 9989"
        assert len(app.query("*")) < 60


async def test_a_thousand_tokens_within_a_frame_make_a_handful_of_layouts() -> None:
    app = TranscriptApp()
    transcript, layouts = app.transcript, count_layouts(app.transcript)
    async with app.run_test() as pilot:
        await drawn(pilot)
        before = layouts()
        for number in range(1000):
            transcript.stream_text("m", f"word{number}\n\n")
        await drawn(pilot)
        assert 0 < layouts() - before < 60


async def test_another_theme_changes_the_colours_of_what_is_drawn() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.add_user("u", "hello")
        await drawn(pilot)
        before = app.transcript.history.rows(0, 1)[0]
        app.theme = "textual-light"
        await drawn(pilot)
        after = app.transcript.history.rows(0, 1)[0]
        assert before.text == after.text
        assert before != after


async def test_a_terminal_of_one_cell_does_not_crash() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(1, 1)) as pilot:
        app.transcript.add_user("u", "hello")
        app.transcript.stream_text("m", "| a | b |\n|---|---|\n| 1 | 2 |")
        finish(app.transcript, "c", Outcome.FAILED, "x\ny")
        await drawn(pilot)
        await pilot.resize_terminal(20, 5)
        await drawn(pilot)
        assert filled_rows(app)[-3:] == ["✗ read  c     failed"[:19], "│ x", "│ y"]


async def test_ascii_terminals_get_plain_signs() -> None:
    app = TranscriptApp(Transcript(use_ascii=True))
    async with app.run_test() as pilot:
        app.transcript.add_user("u", "hello")
        finish(app.transcript, "c", Outcome.FAILED, "x")
        app.transcript.stream_text("m", "- item")
        await drawn(pilot)
        assert "".join(filled_rows(app)).isascii()
