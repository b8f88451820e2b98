"""Text is found as the user sees it: across wraps, emphasis and any number of entries."""

from coder_tui.ui.draw.entries import UserEntry
from coder_tui.ui.draw.search_hits import Hit, Hits, pattern_of, spans_in


def hits(words: str, *texts: str) -> Hits:
    pattern = pattern_of(words)
    assert pattern is not None
    found = Hits(pattern)
    for _ in found.scan([UserEntry(text) for text in texts]):
        pass
    return found


def test_small_letters_match_any_case_and_a_capital_only_itself() -> None:
    assert hits("div", "Div div DIV").count == 3
    assert hits("Div", "Div div DIV").count == 1


def test_a_regular_expression_is_searched_literally() -> None:
    assert hits("a.b(", "a.b( axb(").count == 1


def test_blanks_match_line_ends_and_emphasis() -> None:
    assert hits("guard the divisor", "I guard\nthe **divisor**.").count == 1
    assert pattern_of("   ") is None


def test_hits_are_numbered_through_all_entries() -> None:
    found = hits("x", "x x", "none", "x")
    assert [found.at(number) for number in range(found.count)] == [Hit(0, 0), Hit(0, 1), Hit(2, 0)]


def test_the_nearest_hit_is_found_upwards_or_downwards() -> None:
    found = hits("x", "none", "x x", "none", "x", "none")
    assert [found.last_before(index) for index in range(5)] == [2, 1, 1, 2, 2]
    assert [found.first_from(index) for index in range(5)] == [0, 0, 2, 2, 0]


def test_a_hit_continues_in_the_next_row_after_its_prefix() -> None:
    pattern = pattern_of("guard the divisor")
    assert pattern is not None
    rows = ["◆ I will guard the   ", "  divisor, then guard", "│ the divisor         "]
    assert spans_in(rows, pattern) == [((0, 9, 18), (1, 2, 9)), ((1, 16, 21), (2, 2, 13))]


def test_a_long_text_is_searched_in_slices() -> None:
    pattern = pattern_of("x")
    assert pattern is not None
    assert len(list(Hits(pattern).scan([UserEntry("y" * 150_000)] * 10))) == 3
