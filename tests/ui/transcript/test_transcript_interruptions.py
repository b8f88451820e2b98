"""Things that come between the words of a reply."""

from coder_tui.protocol.outcomes import NoticeLevel
from tests.ui.transcript_app import TranscriptApp, drawn, filled_rows


async def test_a_reply_interrupted_by_two_notes_is_shown_whole() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        for number, part in enumerate(("first. ", "second. ", "third.")):
            app.transcript.stream_text("m", part)
            if number < 2:
                app.transcript.add_note(NoticeLevel.INFO, f"note {number}")
        app.transcript.finish_message("m", "first. second. third.", "", interrupted=False)
        await drawn(pilot)
        shown = " ".join(filled_rows(app))
    assert [shown.count(word) for word in ("first.", "note 0", "second.", "note 1", "third.")] == [1] * 5


async def test_a_call_that_was_announced_and_never_came_is_gone_at_the_end_of_the_turn() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        app.transcript.tail.propose("c", "bash", 12)
        await drawn(pilot)
        assert "bash" in " ".join(filled_rows(app))
        app.transcript.tail.drop_proposals()
        await drawn(pilot)
        assert filled_rows(app) == []
