"""What servers send is kept within what the line to the program, which they share, can carry."""

from coder_tui.mcp.replies import LARGEST_LIST, LARGEST_STRUCTURED, MOST_ENTRIES, affordable, small


def test_a_list_that_is_short_is_whole() -> None:
    notes: list[str] = []
    assert tuple(affordable(range(MOST_ENTRIES), "tools", notes.append)) == tuple(range(MOST_ENTRIES))
    assert notes == []


def test_of_a_list_that_has_no_end_the_first_are_used() -> None:
    notes: list[str] = []
    assert len(tuple(affordable(range(200_000), "tools", notes.append))) == MOST_ENTRIES
    assert notes == [f"only the first {MOST_ENTRIES} tools are used: the rest is too many, or too long"]


def test_of_entries_that_are_too_long_together_the_first_are_used() -> None:
    notes: list[str] = []
    half = "x" * (LARGEST_LIST // 2 - 2)
    assert tuple(affordable((half, half, "y"), "prompts", notes.append)) == (half, half)
    assert notes == ["only the first 2 prompts are used: the rest is too many, or too long"]


def test_structured_data_is_whole_or_left_out_with_a_word() -> None:
    assert small({"a": [1]}) == {"a": [1]}
    assert small("x" * LARGEST_STRUCTURED) == {
        "left_out": f"structured data of {LARGEST_STRUCTURED + 2} characters"
    }
