"""Terminal output becomes the text that the user would finally see."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.text.safe_text import has_unsafe
from coder_tui.text.terminal import COLUMNS, ROWS, OutputReader, plain_output

_PRINTED = ("a", "wide 漢", "\r", "\n", "\r\n", "\t", "\x08", "\x1b", "\x1b[", "31", ";", "m", "x" * COLUMNS)
_ERASED = ("\x1b[K", "\x1b[2K", "\x1b[1K", "\x1b[J", "\x1b[2J", "\x1bc", "\x1b[?1049h", "\x1b[?25l")
_MOVED = (
    "\x1b[3A",
    "\x1b[2B",
    "\x1b[9C",
    "\x1b[D",
    "\x1b[5G",
    "\x1b[2;3H",
    "\x1b[s",
    "\x1b[u",
    "\x1b7",
    "\x1b8",
)
_STEERED = ("\x1b]", "0;title", "8;;http://x", "\x07", "\x1b\\", "\x1bP", "\x1b(B", "\x1bM", "\x9b2J")
_HIDDEN = ("\u202e", "\u200b", "\ud800", "\x00", "\x7f")
_PIECES = st.sampled_from(_PRINTED + _ERASED + _MOVED + _STEERED + _HIDDEN)
_OUTPUTS = st.lists(_PIECES, max_size=40).map("".join)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain\ttext  \n", "plain\ttext  \n"),
        ("a\r\nb", "a\nb"),
        ("\x1b[1;31mred\x1b[0m and \x1b[38;5;3mmore\x1b[m", "red and more"),
        ("\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        ("bo\x08ol_\x08d", "bold"),
        ("\x1b(Bname\x1b=", "name"),
        ("\x1b]0;title\x07hi", "hi"),
        ("日本語 ✓", "日本語 ✓"),
    ],
)
def test_decoration_is_dropped(raw: str, text: str) -> None:
    assert plain_output(raw) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("10%\r55%\r100%\ndone\n", "100%\ndone\n"),
        ("downloading\rok\x1b[K\n", "ok\n"),
        ("downloading\rok         \n", "ok\n"),
        ("downloading\x1b[2K\rok\n", "ok\n"),
        ("longer line\rok\n", "oknger line\n"),
        ("one\ntwo\n\x1b[2A\x1b[JONE\nTWO\n", "ONE\nTWO\n"),
        ("a: 1\nb: 1\n\x1b[2Fa: 2\nb: 2\n", "a: 2\nb: 2\n"),
        ("a\nb\x1b[1;1HA\x1b[2;1HB", "A\nB"),
        ("x\x1b7yz\x1b8Y", "xYz"),
        ("\x1b[10G[ ok ]", "         [ ok ]"),
    ],
)
def test_redrawn_text_appears_once_in_its_last_state(raw: str, text: str) -> None:
    assert plain_output(raw) == text


@pytest.mark.parametrize(
    "clear", ["\x1b[2J\x1b[H", "\x1b[H\x1b[2J\x1b[3J", "\x1bc", "\x1b[?1049h", "\x1b[?1049l"]
)
def test_a_cleared_screen_keeps_what_was_printed(clear: str) -> None:
    assert plain_output(f"before{clear}after") == "before\nafter"
    assert plain_output(f"before\n{clear}after") == "before\nafter"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (
            "\x1b]8;;https://evil.example\x1b\\https://good.example\x1b]8;;\x1b\\!",
            "https://good.example (https://evil.example)!",
        ),
        ("\x1b]8;id=1;https://a.example\x07here\x1b]8;;\x07", "here (https://a.example)"),
        ("\x1b]8;;https://a.example\x07https://a.example\x1b]8;;\x07", "https://a.example"),
        ("\x1b]8;;https://a.example\x07never closed", "never closed (https://a.example)"),
        ("\x1b]8;;x:1\x07a\x1b]8;;x:2\x07b\x1b]8;;\x07", "a (x:1)b (x:2)"),
    ],
)
def test_a_link_shows_where_it_leads(raw: str, text: str) -> None:
    assert plain_output(raw) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x1bPq#0\x1b\\", "␛Pq#0␛\\"),
        ("\x1b_Gx\x1b\\", "␛_Gx␛\\"),
        ("\x9b2Jx", "<U+009B>2Jx"),
        ("\x1b[6n\x1b[c", "␛[6n␛[c"),
        ("\x1b[>1u", "␛[>1u"),
        ("rm \u202efdp", "rm <U+202E>fdp"),
        ("cut off \x1b[3", "cut off ␛[3"),
        ("cut off \x1b]0;ti", "cut off ␛]0;ti"),
        ("\x00\x07", "␀␇"),
    ],
)
def test_other_control_sequences_are_shown(raw: str, text: str) -> None:
    assert plain_output(raw) == text


@given(_OUTPUTS)
def test_no_control_character_gets_through(raw: str) -> None:
    assert not has_unsafe(plain_output(raw))


@given(_OUTPUTS)
def test_text_that_was_read_once_stays_as_it_is(raw: str) -> None:
    text = plain_output(raw)
    assert plain_output(text) == text


@given(_OUTPUTS, st.lists(st.integers(0, 400), max_size=8))
def test_the_pieces_do_not_change_the_text(raw: str, cuts: list[int]) -> None:
    ends = [*sorted(cuts), len(raw)]
    reader, read, start = OutputReader(), "", 0
    for end in ends:
        read += reader.feed(raw[start:end])
        start = max(start, end)
    assert read + reader.finish() == plain_output(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "50%\r100%\n",
        "\x1b[31mred\x1b[0m",
        "\x1b]8;;http://x\x1b\\t\x1b]8;;\x1b\\",
        "a\r\nb",
        "\x1b]52;c;x\x1b\\",
    ],
)
def test_one_character_at_a_time_reads_the_same(raw: str) -> None:
    reader = OutputReader()
    read = "".join(reader.feed(char) for char in raw)
    assert read + reader.finish() == plain_output(raw)


def test_what_may_still_change_is_pending() -> None:
    reader = OutputReader()
    assert reader.feed("one\ntwo 10%\r") == ""
    assert reader.pending == "one\ntwo 10%"
    assert reader.feed("two 99%") == ""
    assert reader.pending == "one\ntwo 99%"


def test_lines_above_the_screen_are_settled() -> None:
    reader = OutputReader()
    settled = reader.feed("".join(f"{number}\n" for number in range(ROWS + 3)))
    assert settled == "0\n1\n2\n3"
    assert (settled + reader.pending).split("\n") == [*map(str, range(ROWS + 3)), ""]


def test_a_very_long_line_is_passed_on_whole_and_not_kept() -> None:
    reader = OutputReader()
    settled = "".join(reader.feed("x" * 50_000) for _ in range(80))
    assert len(reader.pending) <= ROWS * COLUMNS
    assert settled + reader.finish() == "x" * 4_000_000


def test_many_carriage_returns_leave_one_line() -> None:
    assert plain_output("\r" * 1_000_000 + "end" + "\r\x1b[K" * 1000) == ""
    assert plain_output("working\r" * 20_000) == "working"


def test_a_sequence_without_end_is_not_kept() -> None:
    reader = OutputReader()
    assert reader.feed("\x1b]0;" + "t" * 100_000) + reader.finish() == "␛]0;" + "t" * 100_000


def test_far_moves_do_not_become_many_spaces() -> None:
    assert len(plain_output("\x1b[9999C\x1b[9999Bx")) < 200
    assert len(plain_output("\x1b[9999;9999Hx")) < 300
