"""What servers send is limited, so that it fits into one line to the program."""

from coder_tui.mcp.replies import (
    LARGEST_LIST,
    LARGEST_STRUCTURED,
    MOST_ENTRIES,
    limit_entries,
    limit_structured,
)


def test_a_short_list_is_complete() -> None:
    notes: list[str] = []
    assert tuple(limit_entries(range(MOST_ENTRIES), "tools", notes.append)) == tuple(range(MOST_ENTRIES))
    assert notes == []


def test_only_the_first_entries_of_an_endless_list_are_used() -> None:
    notes: list[str] = []
    assert len(tuple(limit_entries(range(200_000), "tools", notes.append))) == MOST_ENTRIES
    assert notes == [f"only the first {MOST_ENTRIES} tools are used: the list is too long"]


def test_only_the_first_entries_are_used_if_all_are_too_long() -> None:
    notes: list[str] = []
    half = "x" * (LARGEST_LIST // 2 - 2)
    assert tuple(limit_entries((half, half, "y"), "prompts", notes.append)) == (half, half)
    assert notes == ["only the first 2 prompts are used: the list is too long"]


def test_structured_data_is_complete_or_left_out_with_a_note() -> None:
    assert limit_structured({"a": [1]}) == {"a": [1]}
    assert limit_structured("x" * LARGEST_STRUCTURED) == {
        "left_out": f"structured data of {LARGEST_STRUCTURED + 2} characters"
    }
