"""Diffs on the screen."""

from collections.abc import Awaitable, Callable
from typing import Protocol

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from coder_tui.diffs.compare import compare
from coder_tui.diffs.unified import parse_unified
from coder_tui.protocol.comparison import Comparison
from coder_tui.ui.diff.sheet import KEPT
from coder_tui.ui.draw.palette import Syntax
from coder_tui.ui.glyphs import ASCII
from tests.ui.diff_app import LONG_NEW, LONG_OLD, NARROW, NEW, OLD, WIDE, DiffApp, drawn, one, until_colored
from tests.ui.transcript_app import unsafe_characters


async def shown(files: list[Comparison], size: tuple[int, int] = NARROW, *keys: str) -> list[str]:
    app = DiffApp(files)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
        await until_colored(pilot)
        return drawn(app)


async def test_a_narrow_screen_shows_one_column_with_both_numbers() -> None:
    assert await shown(one("a\nold = 1\n", "a\nnew = 1\nmore\n")) == [
        "   1   1   a",
        "   2     - old = 1",
        "       2 + new = 1",
        "       3 + more",
    ]


async def test_a_wide_screen_shows_both_files_with_fillers() -> None:
    rows = await shown(one("a\nold = 1\n", "a\nnew = 1\nmore\n"), WIDE)
    assert [row.split("│")[0].rstrip() for row in rows] == ["   1   a", "   2 - old = 1", " " + "╱" * 60]
    assert [row.split("│")[1].rstrip() for row in rows] == ["  1   a", "  2 + new = 1", "  3 + more"]


@pytest.mark.parametrize(("width", "is_split"), [(80, False), (114, False), (115, True), (200, True)])
async def test_two_columns_need_fifty_columns_of_code_each(width: int, is_split: bool) -> None:
    app = DiffApp(one(OLD, NEW))
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.pause()
        assert app.view.shape.look.is_split is is_split


@pytest.mark.parametrize(
    ("width", "presses", "is_split"), [(124, 1, False), (124, 2, True), (80, 1, True), (40, 1, False)]
)
async def test_a_key_changes_the_layout_if_there_is_room(width: int, presses: int, is_split: bool) -> None:
    app = DiffApp(one(OLD, NEW))
    async with app.run_test(size=(width, 24)) as pilot:
        await pilot.pause()
        await pilot.press(*["vertical_line"] * presses)
        assert app.view.shape.look.is_split is is_split


async def test_a_new_file_has_the_whole_width_and_says_so() -> None:
    long = "word " * 22 + "end"
    assert await shown(one(None, f"{long}\n"), WIDE) == [" f.txt  new file +1 -0", f"   1 + {long}"]


async def test_a_rename_and_an_empty_file_are_described() -> None:
    files = [compare("a\n", "a\n", "new", "old"), compare(None, "", "empty")]
    assert await shown(files) == [
        " new  renamed from old +0 -0",
        " No lines differ.",
        "   1   1   a",
        " empty  new file +0 -0",
        " The file is empty.",
    ]


async def test_every_changed_row_has_its_sign_in_both_layouts() -> None:
    for size in (WIDE, NARROW):
        rows = await shown(one("x = 1\n" * 30, "y = 1\n" * 30), size)
        signs = [part.split()[1] for row in rows for part in row.split("│")]
        assert set(signs) <= {"-", "+"}
        assert len(signs) >= 40


async def test_columns_stay_aligned_next_to_wide_characters() -> None:
    rows = await shown(one("名前 = 値\n", "名前 = 数\nx\n"), WIDE)
    assert [cell_len(row.split("│")[0]) for row in rows] == [61, 61]


async def test_a_wrapped_line_is_indented_and_marked() -> None:
    rows = await shown(one("a\n", "    " + "word " * 18 + "end\n"), (60, 10))
    assert rows == [
        "   1     - a",
        "       1 +     word word word word word word word word",
        "       ↳ +     word word word word word word word word",
        "       ↳ +     word word end",
    ]


async def test_without_wrapping_a_line_is_read_by_scrolling_sideways() -> None:
    files = one("a\n", "".join(f"{n:03} " for n in range(40)) + "end\n")
    rows = await shown(files, (60, 10), "w")
    assert rows[1].startswith("       1 + 000 001")
    assert rows[1].endswith("…")
    moved = await shown(files, (60, 10), "w", *["right"] * 4)
    assert moved[1].startswith("       1 + 001 002")
    end = await shown(files, (60, 10), "w", *["ctrl+pagedown"] * 9)
    assert end[1].split()[-2:] == ["039", "end"]


async def test_changes_of_whitespace_are_visible() -> None:
    assert await shown(one("    a\nb\n", "\ta\nb \n")) == [
        "   1     - ····a",
        "   2     - b",
        "       1 + →   a",
        "       2 + b·",
    ]


async def test_only_changed_line_ends_are_visible() -> None:
    assert await shown(one("a\r\nb\r\n", "a\nb\r\n")) == ["   1     - a␍", "       1 + a", "   2   2   b"]
    assert await shown(one("a\r\n", "b\r\n")) == ["   1     - a", "       1 + b"]


async def test_a_missing_newline_at_the_end_is_shown() -> None:
    assert await shown(one("a", "a\n")) == [
        "   1     - a",
        "         No newline at end of file",
        "       1 + a",
    ]


async def test_a_key_shows_all_whitespace() -> None:
    assert await shown(one("x\na b\r\n", "y\na b\r\n"), NARROW, "i") == [
        "   1     - x",
        "       1 + y",
        "   2   2   a·b␍",
    ]


async def test_a_very_long_line_is_cut_off_with_a_mark() -> None:
    files = one("a\n", "b" * 3500 + "END\n")
    assert "… 503 more characters" in "".join(await shown(files, (124, 90)))


async def test_hostile_text_is_harmless() -> None:
    hostile = "\x1b[2J\x9b31m \u202eabc \u200b\tx\x07"
    rows = await shown([compare(f"{hostile}\n", f"{hostile}more\n", f"{hostile}", hostile + "2")], WIDE)
    assert unsafe_characters("".join(rows)) == set()
    assert "<U+202E>" in "".join(rows)


async def test_far_lines_are_folded_and_more_or_fewer_can_be_shown() -> None:
    files = one(LONG_OLD, LONG_NEW)
    assert (await shown(files))[0].startswith(" ── ▸ 26 unchanged lines")
    assert (await shown(files, NARROW, "plus"))[0].startswith(" ── ▸ 19 unchanged lines")
    assert (await shown(files, NARROW, "minus", "minus"))[0].startswith(" ── ▸ 29 unchanged lines")
    assert (await shown(files, NARROW, *["plus"] * 5))[0] == "   1   1   value 1"


async def test_hunks_show_signs_and_comments() -> None:
    app = DiffApp(one(LONG_OLD, LONG_NEW))
    first, second = (hunk.id for hunk in app.view.sheet.files[0].hunks)
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        app.view.annotate({first: "✓", second: "✗"}, {second: "keep [b]this[/b]"})
        await pilot.pause()
        rows = drawn(app)
    assert "✓ 30     - value 30" in rows
    assert rows[rows.index("✗ 80     - value 80") + 2] == " ▎ keep [b]this[/b]"


async def test_a_line_of_megabytes_is_cut_off() -> None:
    huge = "x" * 4_000_000
    rows = await shown(one(f"{huge}\n", f"{huge}y\n"), NARROW, "w", "i", "vertical_line")
    assert rows[0].startswith("   1 - xxx")


async def test_only_what_is_near_the_view_is_drawn() -> None:
    old = "".join(f"value {n}\n" for n in range(10_000))
    app = DiffApp(one(old, old.replace("value", "other value")))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await pilot.press("end")
        await until_colored(pilot)
        assert drawn(app)[-1].split()[-3:] == ["other", "value", "9999"]
        assert len(app.view.sheet._strips) <= 8 < KEPT


async def test_code_gets_its_colors_and_another_theme_other_ones() -> None:
    app = DiffApp(one("x = 1\n", "def x(): pass\n", "f.py"))
    async with app.run_test(size=NARROW) as pilot:
        await until_colored(pilot)
        dark = app.view.palette.syntax[Syntax.KEYWORD].color
        assert keyword_colors(app) == {dark}
        app.theme = "coder-light"
        await until_colored(pilot)
        light = app.view.palette.syntax[Syntax.KEYWORD].color
        assert keyword_colors(app) == {light} != {dark}


def keyword_colors(app: DiffApp) -> set[object]:
    segments = [segment for strip in app.view.rows(0, 2) for segment in strip]
    return {segment.style.color for segment in segments if segment.text == "def" and segment.style}


async def test_many_resizes_end_like_a_fresh_screen() -> None:
    app = DiffApp(one(LONG_OLD, LONG_NEW))
    async with app.run_test(size=(200, 30)) as pilot:
        await pilot.pause()
        for width in (120, 40, 10, 1, 80, 200):
            await pilot.resize_terminal(width, 30)
        await until_colored(pilot)
        stormed = drawn(app)
    assert stormed == await shown(one(LONG_OLD, LONG_NEW), (200, 30))


async def test_an_empty_diff_does_not_crash() -> None:
    assert await shown([], NARROW, "right_square_bracket", "right_curly_bracket", "plus", "w", "i") == [""]
    assert await shown(list(parse_unified("Binary files a/x and b/x differ\n", "x"))) == [
        " x +0 -0",
        " Binary files a/x and b/x differ",
    ]


async def test_files_can_be_set_before_mounting() -> None:
    app = DiffApp([])
    app.view.show(one("a\n", "b\n"))
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        assert drawn(app) == ["   1     - a", "       1 + b"]


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_plain_terminal_gets_plain_signs(size: tuple[int, int]) -> None:
    files = one(LONG_OLD + "a\t\r\n", LONG_NEW + "a\n" + "word " * 40)
    app = DiffApp(files, glyphs=ASCII)
    async with app.run_test(size=size) as pilot:
        await pilot.press("right_square_bracket")
        await until_colored(pilot)
        assert {row for row in drawn(app) if not row.isascii()} == set()


class SnapCompare(Protocol):
    def __call__(
        self,
        app: DiffApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


@pytest.mark.parametrize(
    ("theme", "size"),
    [("coder-dark", (80, 40)), ("coder-dark", (124, 36)), ("coder-light", (200, 36))],
    ids=["dark-80", "dark-124", "light-200"],
)
def test_a_diff_looks_right(snap_compare: SnapCompare, theme: str, size: tuple[int, int]) -> None:
    files = [compare(OLD, NEW, "calc.py"), compare(None, "import calc\n", "test_calc.py")]

    async def ready(pilot: Pilot[None]) -> None:
        await pilot.pause()
        await pilot.press("right_square_bracket", "right_square_bracket")
        await until_colored(pilot)

    assert snap_compare(DiffApp(files, theme), terminal_size=size, run_before=ready)
