"""One line of a diff: emphasis stays on the right characters, however they are drawn."""

import pytest
from rich.segment import Segment

from coder_tui.diffs.rows import Cell
from coder_tui.diffs.words import Span
from coder_tui.ui.diff.text import (
    LineStyles,
    WhitespaceMarks,
    cell_segments,
    colored_part,
    diff_styles,
    draw_line,
)
from coder_tui.ui.draw.code import LONGEST_COLORED, code_lines
from coder_tui.ui.draw.palette import Syntax
from coder_tui.ui.glyphs import UNICODE
from tests.ui.transcript_app import PALETTE

ADDED: LineStyles = diff_styles(PALETTE).added


def drawn(line: str, *spans: Span) -> list[Segment]:
    return cell_segments(Cell(1, line, True, spans), ADDED, WhitespaceMarks(UNICODE), None)


def text_of(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("a\tb", "a   b"),
        ("\t\tb", "        b"),
        ("漢\tb", "漢  b"),
        ("a\x1bb", "a␛b"),
        ("a\u202eb", "a<U+202E>b"),
    ],
)
def test_tabs_end_at_the_same_columns_and_controls_are_visible(line: str, text: str) -> None:
    assert draw_line(line).text == text


@pytest.mark.parametrize(
    ("line", "span", "word"),
    [
        ("say hello\n", (4, 9), "hello"),
        ("\tsay hello\n", (5, 10), "hello"),
        ("\u202e\tsay hello\n", (6, 11), "hello"),
        ("say \u202ehello\n", (4, 10), "<U+202E>hello"),
        ("日本語 hello\n", (4, 9), "hello"),
    ],
)
def test_only_the_changed_word_is_emphasized(line: str, span: Span, word: str) -> None:
    segments = drawn(line, span)
    assert [segment.text for segment in segments if segment.style == ADDED.word] == [word]


def test_emphasis_beyond_the_cut_is_no_error() -> None:
    segments = drawn("x" * 5000 + "\n", (2990, 5000))
    assert text_of(segments) == "x" * 3000 + "… 2000 more characters"
    assert text_of([segment for segment in segments if segment.style == ADDED.word]) == "x" * 10


def test_syntax_and_emphasis_are_combined() -> None:
    colors = code_lines("def f", "python", PALETTE)[0]
    segments = cell_segments(Cell(1, "def f\n", True, ((0, 3),)), ADDED, WhitespaceMarks(UNICODE), colors)
    assert segments[0] == Segment("def", ADDED.word_syntax[PALETTE.syntax[Syntax.KEYWORD]])


def test_a_long_line_is_colored_only_at_its_start() -> None:
    line = "x" * 500
    colors = code_lines(colored_part(line), "python", PALETTE)[0]
    segments = cell_segments(Cell(1, f"{line}\n"), ADDED, WhitespaceMarks(UNICODE), colors)
    assert text_of(list(colors)) == "x" * LONGEST_COLORED
    assert text_of(segments) == line
