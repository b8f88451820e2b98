"""Markdown on the screen."""

from dataclasses import replace

import pytest
from rich.color import Color
from rich.style import Style

from coder_tui.ui.draw.markdown import draw_markdown
from tests.ui.transcript_app import PALETTE, texts, unsafe_characters

RED = Color.parse("#ff0000")


def drawn(source: str, width: int = 40) -> list[str]:
    return texts(draw_markdown(source, width, PALETTE))


def test_every_row_has_exactly_the_width() -> None:
    table = "| a | b |\n|--|--|\n| 1 | 2 |"
    fence = "```\nlong " + "z" * 90 + "\n```"
    source = f"# a\n\nwords 漢字 `code`\n\n- x\n  - y\n\n{fence}\n\n{table}\n\n---"
    assert {strip.cell_length for strip in draw_markdown(source, 33, PALETTE)} == {33}


def test_nested_lists_are_indented_and_wrap_below_their_text() -> None:
    source = "- one two three four five six seven eight\n  - nested\n    1. deep\n- last"
    assert drawn(source, 24) == [
        "  • one two three four",
        "    five six seven eight",
        "    • nested",
        "      1. deep",
        "  • last",
    ]


def test_an_ordered_list_keeps_its_numbers() -> None:
    assert drawn("9. nine\n10. ten") == ["  9. nine", "  10. ten"]


def test_an_item_may_hold_paragraphs_and_code() -> None:
    assert drawn("- one\n\n  two\n\n  ```\n  x = 1\n  ```") == ["  • one", "", "    two", "", "       x = 1"]


def test_a_quote_has_a_bar_at_every_row() -> None:
    assert drawn("> one two three four five\n> six", 16) == ["▎ one two three", "▎ four five six"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("[bank](http://evil.example)", "bank (http://evil.example)"),
        ("<http://a.b>", "http://a.b"),
        ("[http://a.b](http://evil.example)", "http://a.b (http://evil.example)"),
        ("[Here][x]\n\n[X]: http://a.b", "Here (http://a.b)"),
        ("![alt](http://a.b/c.png)", "[image: alt] (http://a.b/c.png)"),
    ],
)
def test_a_link_shows_its_address(source: str, shown: str) -> None:
    assert drawn(source) == [shown]


def test_table_cells_wrap_and_lose_nothing() -> None:
    source = "| name | about |\n|---|---|\n| a | one two three four five six |"
    assert drawn(source, 24) == [
        "name │ about",
        "─────┼──────────────────",
        "a    │ one two three",
        "     │ four five six",
    ]


def test_html_is_text() -> None:
    assert drawn("<b>x</b> <!-- y -->") == ["<b>x</b> <!-- y -->"]


def test_markup_of_the_screen_library_is_text() -> None:
    assert drawn("[@click=app.quit]x[/] [bold]y[/b]") == ["[@click=app.quit]x[/] [bold]y[/b]"]


def test_entities_cannot_produce_control_characters() -> None:
    rows = drawn("&#27;[2J &#x9b;31m &#x202e;abc &#x200b; `&#27;` [t](http://a&#x202e;b)")
    assert unsafe_characters("".join(rows)) == set()
    assert "<U+202E>abc" in rows[0]


def test_long_code_lines_wrap_with_a_mark() -> None:
    assert drawn("```\n" + "a" * 20 + "b" * 5 + "\n```", 23) == ["   " + "a" * 20, "  ↳" + "b" * 5]


def test_code_in_an_unknown_language_is_drawn_plain() -> None:
    assert drawn("```no-such-language\nx <- 1\n```") == ["   x <- 1"]


def test_known_code_is_colored() -> None:
    strip = draw_markdown("```python\ndef f(): pass\n```", 30, PALETTE)[0]
    colored = [segment.text for segment in strip if segment.style and segment.style.color == RED]
    assert colored == ["def", "pass"]


def test_a_column_is_aligned_as_its_heading_says() -> None:
    table = "| left | center | right |\n|:--|:-:|--:|\n| a | b | 1 |\n| a b | b | 1234 |"
    assert drawn(table) == [
        "left │ center │ right",
        "─────┼────────┼──────",
        "a    │   b    │     1",
        "a b  │   b    │  1234",
    ]


def test_the_blank_row_before_a_quote_is_not_quoted() -> None:
    assert drawn("> one\n> > two") == ["▎ one", "▎", "▎ ▎ two"]
    assert drawn("- item\n  > quoted") == ["  • item", "    ▎ quoted"]


def test_headings_have_three_ranks() -> None:
    palette = replace(PALETTE, heading=Style.parse("bold red"))
    styles = [draw_markdown(f"{'#' * rank} x", 10, palette)[0]._segments[0].style for rank in (1, 2, 3, 4)]
    assert len(set(styles)) == 3
    assert styles[2] == styles[3]
