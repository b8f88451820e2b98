"""Characters and units, there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.lsp.positions import PositionEncoding, lines_of, to_characters, to_units

LINE = "aé😀z"


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


@given(st.text(), st.integers(0, 50), st.sampled_from(list(PositionEncoding)))
def test_a_place_survives_the_way_there_and_back(
    line: str, character: int, encoding: PositionEncoding
) -> None:
    kept = min(character, len(line))
    assert to_characters(line, to_units(line, character, encoding), encoding) == kept


def test_inside_of_a_character_is_its_beginning_and_past_the_end_the_end() -> None:
    assert to_characters("😀x", 1, PositionEncoding.UTF16) == 0
    assert to_characters("😀x", 99, PositionEncoding.UTF16) == 2
    assert to_units("ab", 99, PositionEncoding.UTF8) == 2


def test_only_the_line_ends_of_the_protocol_end_lines() -> None:
    assert lines_of("a\r\nb\rc\nd\x0ce\u2028f\n") == ["a", "b", "c", "d\x0ce\u2028f", ""]
