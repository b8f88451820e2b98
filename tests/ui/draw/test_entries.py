"""Messages, thoughts and notes at any width."""

from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.ui.draw.entries import (
    MOST_ROWS_OF_A_PASTE,
    SHORT_TEXT,
    Entry,
    NoteEntry,
    ReplyEntry,
    ThinkingEntry,
    UserEntry,
    View,
    reply_entries,
)
from coder_tui.ui.draw.markdown import draw_markdown
from coder_tui.ui.glyphs import ThinkingLevel
from tests.ui.transcript_app import PALETTE, texts


def drawn(entry: Entry, width: int = 30, view: View | None = None) -> list[str]:
    return texts(entry.draw(width, PALETTE, view or View()))


def test_a_question_has_its_bar_at_every_row() -> None:
    assert drawn(UserEntry("one two three four five six\nseven")) == [
        "▌you  one two three four five",
        "▌     six",
        "▌     seven",
    ]


def test_a_long_paste_is_collapsed_and_expands_in_full() -> None:
    entry = UserEntry("\n".join(f"line {n}" for n in range(100)))
    folded = drawn(entry, 60)
    assert (len(folded), folded[-1]) == (MOST_ROWS_OF_A_PASTE + 1, "▌     … 70 more lines, o to expand")
    assert drawn(entry, view=View(is_open=True))[-1] == "▌     line 99"


def test_a_huge_paste_expands_in_full_too() -> None:
    entry = UserEntry("word\n" * 10_000)
    assert len(drawn(entry, view=View(is_open=True))) == 10_001


def test_a_short_reply_is_one_entry() -> None:
    assert reply_entries("hello") == [ReplyEntry("hello")]


def test_a_long_reply_in_parts_looks_like_one_drawing() -> None:
    text = "".join(f"## head {n}\n\n- item {n}\n- other\n\ntext {n}\n\n" for n in range(200))
    assert len(text) > SHORT_TEXT
    entries = reply_entries(text)
    assert len(entries) > 5
    rows = [row[2:] for entry in entries for row in drawn(entry, 42)]
    assert rows == texts(draw_markdown(text, 40, PALETTE))


def test_only_the_first_part_of_a_reply_has_the_mark_and_a_gap() -> None:
    entries = reply_entries("word\n\n" * 1000)
    assert [entry.has_gap for entry in entries] == [True] + [False] * (len(entries) - 1)
    assert [drawn(entry)[0][:1] or " " for entry in entries] == ["◆"] + [" "] * (len(entries) - 1)


def test_thinking_is_hidden_summarized_or_full() -> None:
    entry = ThinkingEntry("first\nsecond " + "x" * 40)
    shown = {level: len(drawn(entry, view=View(level))) for level in ThinkingLevel}
    assert shown == {ThinkingLevel.HIDDEN: 0, ThinkingLevel.SUMMARY: 1, ThinkingLevel.FULL: 4}


def test_a_note_has_a_sign_for_its_level() -> None:
    assert [drawn(NoteEntry(level, "word")) for level in NoticeLevel] == [["· word"], ["! word"], ["✗ word"]]


def test_estimates_come_near_the_truth() -> None:
    entries: list[Entry] = [UserEntry("a\nb"), ReplyEntry("one\n\ntwo\n\n- three"), ThinkingEntry("x")]
    for entry in entries:
        assert abs(entry.estimate(40, View()) - len(drawn(entry, 40))) <= 1
