"""A line of a diff wrapped in rows: neither text nor styles are lost."""

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from coder_tui.ui.diff.rows import _wrapped
from coder_tui.ui.diff.text import LineStyles

INKS = (Style(bold=True), Style(italic=True), Style(underline=True))
GROUND = LineStyles(plain=Style(), word=Style(), sign=Style(), mark=Style(), syntax={}, word_syntax={})
parts = st.lists(
    st.tuples(st.text("ab 日本\u0301", max_size=40), st.sampled_from(INKS)), min_size=1, max_size=6
)


def letters(segments: list[Segment]) -> list[tuple[str, Style | None]]:
    return [(letter, segment.style) for segment in segments for letter in segment.text]


@settings(max_examples=200, deadline=None)
@given(parts, st.integers(8, 40))
def test_the_rows_of_a_line_are_the_line(line: list[tuple[str, Style]], room: int) -> None:
    segments = [Segment(text, style) for text, style in line]
    rows = list(_wrapped(segments, room, 0, GROUND))
    assert letters([segment for row in rows for segment in row]) == letters(segments)


def test_a_line_of_a_megabyte_is_wrapped() -> None:
    line = [Segment("word and word, " * 70_000, INKS[0])]
    rows = list(_wrapped(line, 100, 4, GROUND))
    assert (
        "".join(segment.text for row in rows for segment in row if segment.style == INKS[0]) == line[0].text
    )
