"""Long blocks in the transcript: both ends are drawn, and it is said how much is not."""

import pytest

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
)
from coder_tui.ui.draw.limits import MOST_CHARACTERS, MOST_LINES, MOST_ROWS, bounded, cut_short

DIFF = "--- a/a\n+++ b/a\n@@ -0,0 +1,5000 @@\n" + "+line\n" * 5000


@pytest.mark.parametrize(
    "block",
    [
        TextBlock("x" * MOST_CHARACTERS),
        MarkdownBlock("a\n" * MOST_LINES),
        TerminalBlock("make", "out\n" * MOST_LINES, 1),
        DiffBlock("a", "@@ -1 +1 @@\n-a\n+b\n", 1, 1),
        TableBlock(("a",), (("b",),) * MOST_ROWS),
    ],
    ids=lambda block: type(block).__name__,
)
def test_what_is_not_too_long_stays_as_it_is(block: DisplayBlock) -> None:
    assert bounded(block) is block


def test_of_long_output_both_ends_are_left_and_the_rest_is_counted() -> None:
    text = "first\n" + "middle\n" * 100_000 + "last"
    block = bounded(TerminalBlock("make", text, 1))
    assert isinstance(block, TerminalBlock)
    assert block.output.startswith("first\nmiddle\n") and block.output.endswith("middle\nlast")
    note = next(line for line in block.output.split("\n") if line.startswith("("))
    kept = len(block.output) - len(note) - 2
    assert note == f"({len(text) - kept} characters between: read the block)"
    assert len(block.output) < 2 * MOST_CHARACTERS


def test_an_endless_line_keeps_its_ends() -> None:
    block = bounded(TextBlock("a" + "b" * 4_000_000 + "c"))
    assert isinstance(block, TextBlock)
    assert (block.text[0], block.text[-1]) == ("a", "c")
    assert len(block.text) < 2 * MOST_CHARACTERS


def test_of_a_long_change_the_beginning_is_left_in_whole_lines() -> None:
    block = bounded(DiffBlock("a", DIFF, 5000, 0))
    assert isinstance(block, DiffBlock)
    assert DIFF.startswith(block.diff)
    assert block.diff.count("\n") == MOST_LINES - 1


def test_a_change_of_endless_lines_keeps_some_of_them_whole() -> None:
    diff = "--- a/a\n+++ b/a\n@@ -1,20 +1,20 @@\n" + "".join(f"+{'x' * 100_000}\n" for _ in range(20))
    block = bounded(DiffBlock("a", diff, 20, 0))
    assert isinstance(block, DiffBlock)
    assert block.diff.count("\n+x") == 9
    assert diff.startswith(block.diff)


def test_a_long_table_ends_with_the_number_of_its_other_rows() -> None:
    block = bounded(TableBlock(("a",), (("b",),) * (MOST_ROWS + 7)))
    assert isinstance(block, TableBlock)
    assert block.rows[-1] == ("7 more rows: read the block",)


def test_a_note_says_how_much_of_it_is_missing() -> None:
    assert cut_short("short") == "short"
    assert cut_short("x" * 5000) == f"{'x' * 4000} (1000 more characters)"
