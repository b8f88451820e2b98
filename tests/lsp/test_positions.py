"""Converting between characters and units."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.lsp.document import PositionEncoding, Ruler, in_characters, lines_of, to_units
from coder_tui.lsp.questions import places_in_characters
from coder_tui.lsp.wire import Finding, Place
from coder_tui.protocol.diagnostics import Severity

LINE = "aé😀z"
SECONDS = 2.0
"""A hundred times the usual time, a hundredth of what it once took."""


def to_characters(line: str, units: int, encoding: PositionEncoding) -> int:
    return Ruler(line, encoding).characters(0, units)


@pytest.mark.parametrize(
    ("encoding", "units"),
    [
        (PositionEncoding.UTF8, [0, 1, 3, 7, 8]),
        (PositionEncoding.UTF16, [0, 1, 2, 4, 5]),
        (PositionEncoding.UTF32, [0, 1, 2, 3, 4]),
    ],
)
def test_each_encoding_counts_its_own_units(encoding: PositionEncoding, units: list[int]) -> None:
    assert [to_units(LINE, character, encoding) for character in range(5)] == units
    assert [to_characters(LINE, unit, encoding) for unit in units] == [0, 1, 2, 3, 4]


@given(
    st.text().filter(lambda text: not {"\r", "\n"} & set(text)),
    st.integers(0, 50),
    st.sampled_from(list(PositionEncoding)),
)
def test_a_position_survives_a_round_trip(line: str, character: int, encoding: PositionEncoding) -> None:
    kept = min(character, len(line))
    assert to_characters(line, to_units(line, character, encoding), encoding) == kept


def test_a_position_inside_a_character_is_its_start_and_past_the_end_the_end() -> None:
    assert to_characters("😀x", 1, PositionEncoding.UTF16) == 0
    assert to_characters("😀x", 99, PositionEncoding.UTF16) == 2
    assert to_units("ab", 99, PositionEncoding.UTF8) == 2


def test_only_the_line_ends_of_the_protocol_end_lines() -> None:
    assert lines_of("a\r\nb\rc\nd\x0ce\u2028f\n") == ["a", "b", "c", "d\x0ce\u2028f", ""]


def test_many_positions_in_one_long_line_are_converted_quickly() -> None:
    """Counting happens on the loop of all servers: counting again for each place would block them all."""
    places = tuple(Finding(0, 199_000, 0, 199_010, Severity.ERROR, str(n)) for n in range(500))
    begun = process_time()
    reported = in_characters(places, "😀" + "x" * 200_000, PositionEncoding.UTF16)
    assert process_time() - begun < SECONDS
    assert {(item.character, item.end_character) for item in reported} == {(198_999, 199_009)}


def test_many_positions_in_one_long_text_are_converted_quickly() -> None:
    text = "é = 1\n" * 200_000
    places = tuple(Place("file:///w/a.py", n, 3, n, 4) for n in range(500))
    begun = process_time()
    reported = places_in_characters(places, {"/w/a.py": text}.get, "/w", PositionEncoding.UTF8)
    assert process_time() - begun < SECONDS
    assert {(place.character, place.end_character, place.text) for place in reported} == {(2, 3, "é = 1")}
