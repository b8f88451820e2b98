"""Display blocks as rows."""

from dataclasses import replace
from typing import get_args

import pytest

from coder_tui.protocol.display import (
    DiffBlock,
    DisplayBlock,
    ImageBlock,
    MarkdownBlock,
    SubagentsBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodosBlock,
)
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.ui.draw.blocks import RENDERERS, draw_block, draw_tree
from tests.ui.transcript_app import PALETTE, texts, unsafe_characters

HOSTILE = "\x1b]52;c;aGk=\x07 \x1b[2J \x9b31m \u202eabc \u200b \U000e0041 [@click=app.quit]x[/] a\rb"


def drawn(block: DisplayBlock, width: int = 40) -> list[str]:
    return texts(draw_block(block, width, PALETTE))


def item(text: str, status: TodoStatus) -> TodoItem:
    return TodoItem("1", text, status, TodoPriority.LOW)


def test_every_display_block_has_a_renderer() -> None:
    assert set(RENDERERS) == set(get_args(DisplayBlock))


@pytest.mark.parametrize(
    "block",
    [
        TextBlock(HOSTILE),
        MarkdownBlock(HOSTILE),
        DiffBlock(HOSTILE, f"@@ -1 +1 @@ {HOSTILE}\n-{HOSTILE}\n+{HOSTILE}\n", 1, 1),
        DiffBlock("a.py", HOSTILE, 1, 1),
        TerminalBlock(HOSTILE, HOSTILE, 1),
        TodosBlock((item(HOSTILE, TodoStatus.PENDING),)),
        TableBlock((HOSTILE, "b"), ((HOSTILE, HOSTILE),)),
        SubagentsBlock((ChildLine("k", HOSTILE, HOSTILE, summary=HOSTILE),)),
        ImageBlock(HOSTILE, "image/png", 1, 2, 3),
    ],
    ids=lambda block: type(block).__name__,
)
def test_hostile_text_is_shown_but_harmless(block: DisplayBlock) -> None:
    shown = "".join(drawn(block, 200))
    assert unsafe_characters(shown) == set()
    assert "<U+202E>" in shown
    assert "[@click=app.quit]x[/]" in shown


def test_text_keeps_its_lines_and_wraps_long_ones() -> None:
    assert drawn(TextBlock("a\n\n  b\tc\n" + "x" * 25 + "\n"), 20) == ["a", "", "  b c", "x" * 20, "x" * 5]


def test_a_diff_has_numbers_and_signs_of_both_sides() -> None:
    heading = "--- a/x.py\n+++ b/x.py\n@@ -4,3 +4,3 @@ class A\n"
    diff = heading + " same\n-old\n+new\n end\n\\ No newline at end of file\n"
    assert drawn(DiffBlock("x.py", diff, 1, 1)) == [
        "    … class A",
        "    4   same",
        "    5 - old",
        "    5 + new",
        "    6   end",
        "      No newline at end of file",
    ]


def test_a_diff_marks_only_what_it_leaves_out() -> None:
    diff = "@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-y\n+z\n"
    assert drawn(DiffBlock("x", diff, 2, 2)) == [
        "    1 - a",
        "    1 + b",
        "    …",
        "    9 - y",
        "    9 + z",
    ]


def test_a_diff_shows_a_change_of_line_ends() -> None:
    assert drawn(DiffBlock("x", "@@ -1 +1 @@\n-a\r\n+a\n", 1, 1)) == ["    1 - a␍", "    1 + a"]


def test_a_long_diff_line_wraps_with_its_sign() -> None:
    rows = drawn(DiffBlock("x", "@@ -0,0 +1 @@\n+" + "y" * 15 + "\n", 1, 0), 18)
    assert rows == ["    1 + " + "y" * 10, "    ↳ + " + "y" * 5]


def test_a_diff_of_ten_thousand_lines_is_drawn_in_full() -> None:
    body = "".join(f"+line {n}\n" for n in range(10_000))
    assert len(drawn(DiffBlock("x.py", f"@@ -0,0 +1,10000 @@\n{body}", 10_000, 0))) == 10_000


def test_a_command_is_never_shortened() -> None:
    command = "rm -rf build && " + "x" * 30
    rows = drawn(TerminalBlock(command, "", None), 20)
    assert rows == ["$ rm -rf build &&", "  " + "x" * 18, "  " + "x" * 12]


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("one two three four", ["one two", "three four"]),
        ("exactly ten more", ["exactly", "ten more"]),
        ("0123456789 next", ["0123456789", "next"]),
        ("0123456789abc", ["0123456789", "abc"]),
        ("      0123456789", ["      0123", "456789"]),
        ("日本語 日本語", ["日本語", "日本語"]),
    ],
)
def test_output_breaks_at_blanks_if_possible(line: str, rows: list[str]) -> None:
    assert drawn(TextBlock(line), 10) == rows


def test_a_terminal_shows_a_failing_exit_code() -> None:
    assert drawn(TerminalBlock("false", "out\n", 2)) == ["$ false", "out", "exit 2"]


def test_a_terminal_shows_the_final_state_of_its_output() -> None:
    block = TerminalBlock("make", "\x1b[1mload 10%\rload 99%\x1b[0m\n\x1b]52;c;aGk=\x07\n", 0)
    assert drawn(block) == ["$ make", "load 99%", "␛]52;c;aGk=␇"]


def test_todos_have_a_sign_for_each_state() -> None:
    items = tuple(item(status.value, status) for status in TodoStatus)
    assert drawn(TodosBlock(items)) == ["○ pending", "▶ in_progress", "✓ completed"]


def test_a_table_is_aligned() -> None:
    assert drawn(TableBlock(("a", "bb"), (("1", "2"), ("漢字", "4")))) == [
        "a    │ bb",
        "─────┼───",
        "1    │ 2",
        "漢字 │ 4",
    ]


def test_a_table_that_is_too_wide_still_shows_every_cell() -> None:
    rows = drawn(TableBlock(("one", "two"), (("a" * 30, "b" * 30),)), 20)
    assert "".join(rows).count("a") == 30
    assert "".join(rows).count("b") == 30


def test_sub_agents_show_state_time_cost_and_report() -> None:
    block = SubagentsBlock(
        (
            ChildLine("a", "explore", "find it", ChildState.RUNNING, "grep needle", seconds=75, cost=0.5),
            ChildLine(
                "b", "verify", "check it", ChildState.FAILED, summary="two tests fail\nin a.py", cost=0.004
            ),
        )
    )
    assert drawn(block, 50) == [
        "▶ explore running  find it           1m 15s  $0.50",
        "✗ verify  failed   check it                 <$0.01",
        "  two tests fail in a.py",
    ]
    assert texts(draw_tree(block, 50, PALETTE)) == [
        "▶ explore running  grep needle       1m 15s  $0.50",
        "✗ verify  failed   two tests fail           <$0.01",
    ]


def test_empty_blocks_have_no_rows() -> None:
    assert (drawn(TextBlock("")), drawn(TodosBlock(())), drawn(TableBlock((), ()))) == ([], [], [])


@pytest.mark.parametrize(
    "block",
    [
        TextBlock("x" * 5_000 + "END"),
        DiffBlock("a.txt", "@@ -1 +1,450 @@\n" + "+y\n" * 450 + f"+{'x' * 5_000}END\n", 451, 0),
        TerminalBlock("echo " + "x" * 5_000 + "END", "", None),
    ],
    ids=lambda block: type(block).__name__,
)
def test_a_preview_hides_nothing_of_a_long_line(block: DisplayBlock) -> None:
    rows = draw_block(block, 60, replace(PALETTE, is_whole=True))
    assert "END" in "".join(row.text for row in rows).replace(" ", "").replace("↳", "")


def test_a_picture_is_one_row_with_its_size() -> None:
    block = ImageBlock("shots/login.png", "image/png", 640, 480, 34_100)
    assert drawn(block, 60) == ["▣ shots/login.png  640×480  image/png  34.1 kB"]
    assert drawn(ImageBlock("a.webp", "image/webp", 0, 0, 512), 60) == ["▣ a.webp  image/webp  512 B"]
