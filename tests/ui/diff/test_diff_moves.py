"""Moving around in a diff, and copying from it."""

import random

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from coder_tui.diffs.compare import compare
from coder_tui.diffs.hunks import split_hunk
from tests.ui.diff_app import LONG_NEW, LONG_OLD, NARROW, NEW, OLD, WIDE, DiffApp, drawn, one


async def test_a_click_expands_folded_lines() -> None:
    app = DiffApp(one(LONG_OLD, LONG_NEW))
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.pause()
        await pilot.click(app.view, Offset(10, 0))
        await pilot.pause()
        rows = drawn(app)
    assert rows[0] == "   1   1   value 1"
    assert sum("unchanged" in row for row in rows) == 2


async def test_keys_go_from_hunk_to_hunk() -> None:
    app = DiffApp(one(LONG_OLD, LONG_NEW))
    ids = [hunk.id for hunk in app.view.sheet.files[0].hunks]
    async with app.run_test(size=(80, 8)) as pilot:
        await pilot.pause()
        await pilot.press(*["right_square_bracket"] * 3)
        await pilot.pause()
        assert (app.view.current, app.moves) == (ids[1], ids)
        assert "▌ 80     - value 80" in drawn(app)
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert "▌ 30     - value 30" in drawn(app)


async def test_keys_go_from_file_to_file() -> None:
    files = [compare(LONG_OLD, LONG_NEW, f"file{n}") for n in range(3)]
    app = DiffApp(files)
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.pause()
        await pilot.press(*["right_curly_bracket"] * 2)
        await pilot.pause()
        assert drawn(app)[0] == " file2 +2 -2"
        await pilot.press("left_curly_bracket")
        await pilot.pause()
        assert drawn(app)[0] == " file1 +2 -2"


async def test_keys_leave_the_last_file_even_if_it_is_too_short_to_reach_the_top() -> None:
    app = DiffApp([compare("a\n", "b\n", f"file{n}") for n in range(3)])
    ids = [file.hunks[0].id for file in app.view.sheet.files]
    async with app.run_test(size=NARROW) as pilot:
        await pilot.pause()
        await pilot.press(*["right_curly_bracket"] * 2, "left_curly_bracket")
        await pilot.pause()
        assert app.moves == [ids[1], ids[2], ids[1]]


async def test_after_scrolling_the_next_hunk_is_the_next_one_in_view() -> None:
    files = [compare(LONG_OLD, LONG_NEW, f"file{n}") for n in range(9)]
    app = DiffApp(files)
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.pause()
        await pilot.press("right_square_bracket", "end")
        await pilot.pause()
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert app.moves[0] == files[0].hunks[0].id
        assert app.moves[1] in {hunk.id for hunk in files[8].hunks}


async def test_a_hunk_is_found_below_lines_that_wrap() -> None:
    long = "".join(f"{n} " + "word " * 60 + "\n" for n in range(200))
    app = DiffApp(one(f"{long}old\n{long}", f"{long}new\n{long}"))
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.press(*["plus"] * 5, "right_square_bracket")
        await pilot.pause()
        rows = drawn(app)
    assert rows.index("▌201     - old") == 3


async def test_a_selection_copies_the_code_of_one_side() -> None:
    app = DiffApp(one("same\nold = 1\n", "same\nnew = 1\nmore\n"))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        left = Selection(Offset(2, 0), Offset(40, 2))
        right = Selection(Offset(70, 0), Offset(120, 2))
        assert app.view.get_selection(left) == ("same\nold = 1", "\n")
        assert app.view.get_selection(right) == ("me\nnew = 1\nmore", "\n")


async def test_a_wrapped_line_is_copied_as_one() -> None:
    line = "word " * 20 + "end"
    app = DiffApp(one("a\n", f"    {line}\n"))
    async with app.run_test(size=(60, 10)) as pilot:
        await pilot.pause()
        copied = app.view.get_selection(Selection(Offset(0, 1), Offset(59, 3)))
    assert copied == (f"    {line}", "\n")


async def test_everything_can_be_copied_without_being_drawn() -> None:
    old = "".join(f"value {n}\n" for n in range(5_000))
    app = DiffApp(one(old, old.replace("value", "other")))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        assert app.view.get_selection(Selection(None, None)) == (old.replace("value", "other"), "\n")
        assert len(app.view.sheet._strips) <= 8


async def test_a_selection_ends_when_its_rows_move() -> None:
    app = DiffApp(one(OLD, NEW))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        app.screen.selections = {app.view: Selection(Offset(2, 0), Offset(40, 2))}
        await pilot.press("vertical_line")
        assert app.screen.selections == {}


async def test_the_view_stays_at_its_place_when_the_layout_changes() -> None:
    app = DiffApp(one(LONG_OLD, LONG_NEW))
    async with app.run_test(size=(124, 8)) as pilot:
        await pilot.pause()
        await pilot.press(*["right_square_bracket"] * 2)
        await pilot.pause()
        assert "value eighty" in "".join(drawn(app))
        await pilot.press("vertical_line")
        await pilot.pause()
        assert "value eighty" in "".join(drawn(app))


@pytest.mark.parametrize("keys", [["w", "w"], ["vertical_line", "vertical_line"], ["i", "w", "i"]])
async def test_the_line_at_the_top_stays_there_in_every_layout(keys: list[str]) -> None:
    long = [f"{n} " + "word " * (20 + n % 3) + "end\n" for n in range(400)]
    app = DiffApp(one("".join(long), "".join(long).replace("word end", "word END")))
    async with app.run_test(size=(124, 20)) as pilot:
        await pilot.pause()
        app.view.go(433)
        await pilot.pause()
        first = numbers(app)[0]
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
            assert abs(numbers(app)[0] - first) <= 1


def numbers(app: DiffApp) -> list[int]:
    """The line numbers in view."""
    return [int(row[1:].split()[0]) for row in drawn(app) if row[1:].split()[0].isdigit()]


@pytest.mark.parametrize(("start", "step"), [("end", -1), ("home", 1)])
async def test_a_step_moves_by_one_row_even_if_heights_were_estimates(start: str, step: int) -> None:
    """The number of rows of paired and wrapped lines is not known before they are drawn."""
    chance = random.Random(3)
    old = [f"value {n} " + "word " * chance.randint(0, 30) + "end\n" for n in range(300)]
    new = [line.replace("value", "other value") for line in old if chance.random() < 0.7]
    app = DiffApp(one("".join(old), "".join(new)))
    async with app.run_test(size=(124, 20)) as pilot:
        await pilot.press(start)
        await pilot.pause()
        before = drawn_rows(app)
        for _ in range(150):
            app.view.scroll_to(y=app.view.scroll_offset.y + step, animate=False)
            after = drawn_rows(app)
            one_on = (before[1:], after[:-1]) if step > 0 else (before[:-1], after[1:])
            assert one_on[0] == one_on[1]
            before = after


def drawn_rows(app: DiffApp) -> list[str]:
    top = app.view.scroll_offset.y
    return [strip.text for strip in app.view.rows(top, top + app.view.size.height)]


async def test_a_split_hunk_stays_in_view() -> None:
    whole = compare(LONG_OLD, LONG_NEW.replace("value 82\n", "value 82!\n"), "f.txt")
    second = whole.hunks[1].id
    app = DiffApp([whole])
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.press(*["right_square_bracket"] * 2)
        await pilot.pause()
        before = drawn(app)
        assert app.view.current == second
        app.view.show([split_hunk(whole, second)])
        await pilot.pause()
        assert [row[1:] for row in drawn(app)] == [row[1:] for row in before]
        assert app.view.current == ""
        await pilot.press("right_square_bracket")
        assert app.view.current in {hunk.id for hunk in app.view.sheet.files[0].hunks[1:]}
