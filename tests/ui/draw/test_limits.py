"""Long blocks in the transcript: both ends are drawn, with the amount that is not."""

import pytest

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    MarkdownBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
)
from coder_tui.ui.draw.blocks import MOST_CHARACTERS, MOST_LINES, MOST_ROWS, bounded, cut_short

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
def test_a_short_block_is_unchanged(block: DisplayBlock) -> None:
    assert bounded(block) is block


def test_long_output_keeps_both_ends_and_counts_the_rest() -> None:
    text = "first\n" + "middle\n" * 100_000 + "last"
    block = bounded(TerminalBlock("make", text, 1))
    assert isinstance(block, TerminalBlock)
    assert block.output.startswith("first\nmiddle\n") and block.output.endswith("middle\nlast")
    note = next(line for line in block.output.split("\n") if line.startswith("("))
    kept = len(block.output) - len(note) - 2
    assert note == f"({len(text) - kept} characters not shown: open the block to read them)"
    assert len(block.output) < 2 * MOST_CHARACTERS


def test_a_very_long_line_keeps_both_ends() -> None:
    block = bounded(TextBlock("a" + "b" * 4_000_000 + "c"))
    assert isinstance(block, TextBlock)
    assert (block.text[0], block.text[-1]) == ("a", "c")
    assert len(block.text) < 2 * MOST_CHARACTERS


def test_a_long_diff_keeps_its_first_lines() -> None:
    block = bounded(DiffBlock("a", DIFF, 5000, 0))
    assert isinstance(block, DiffBlock)
    assert DIFF.startswith(block.diff)
    assert block.diff.count("\n") == MOST_LINES - 1


def test_a_diff_of_very_long_lines_keeps_some_of_them() -> None:
    diff = "--- a/a\n+++ b/a\n@@ -1,20 +1,20 @@\n" + "".join(f"+{'x' * 100_000}\n" for _ in range(20))
    block = bounded(DiffBlock("a", diff, 20, 0))
    assert isinstance(block, DiffBlock)
    assert block.diff.count("\n+x") == 9
    assert diff.startswith(block.diff)


def test_a_long_table_ends_with_the_number_of_hidden_rows() -> None:
    block = bounded(TableBlock(("a",), (("b",),) * (MOST_ROWS + 7)))
    assert isinstance(block, TableBlock)
    assert block.rows[-1] == ("7 more rows: open the block to read them",)


def test_a_note_says_how_much_of_it_is_missing() -> None:
    assert cut_short("short") == "short"
    assert cut_short("x" * 5000) == f"{'x' * 4000} (1000 more characters)"
