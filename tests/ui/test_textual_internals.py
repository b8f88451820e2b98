"""Each trick on Textual's private API must still do what it is for; these fail when Textual changes."""

import pytest
from textual import _styles_cache, widget
from textual.geometry import Region
from textual.screen import Screen
from textual.scrollbar import ScrollBar

from coder_tui.ui import textual_internals
from coder_tui.ui.textual_internals import FewPlacements, NoStylesCache, ParsedOnce, PlainScrollBar
from tests.ui.transcript_app import TranscriptApp, count_layouts, drawn, fill, screen_rows


async def layouts_of_one_growth() -> int:
    app = TranscriptApp()
    transcript, layouts = app.transcript, count_layouts(app.transcript)
    async with app.run_test() as pilot:
        transcript.add_user("a", "first")
        await drawn(pilot)
        before = layouts()
        transcript.add_user("b", "second")
        await drawn(pilot)
        return layouts() - before


def test_this_textual_is_a_known_one() -> None:
    assert textual_internals.IS_KNOWN


async def test_growth_lays_out_less_often_than_without_the_trick(monkeypatch: pytest.MonkeyPatch) -> None:
    with_trick = await layouts_of_one_growth()
    monkeypatch.setattr(textual_internals, "IS_KNOWN", False)
    assert 0 < with_trick < await layouts_of_one_growth()


def test_a_sheet_that_is_parsed_again_for_the_same_theme_keeps_its_rules() -> None:
    sheet = ParsedOnce(variables={"ground": "#102030"})
    sheet.add_source("Label { color: $ground; }")
    sheet.reparse()
    first = sheet.rules
    sheet.reparse()
    assert [each is other for each, other in zip(sheet.rules, first, strict=True)] == [True]


def test_a_sheet_that_is_parsed_again_for_another_theme_has_its_colours() -> None:
    sheet = ParsedOnce(variables={"ground": "#102030"})
    sheet.add_source("Label { color: $ground; }")
    sheet.reparse()
    sheet.set_variables({"ground": "#405060"})
    sheet.reparse()
    assert [rule.styles.color.hex for rule in sheet.rules] == ["#405060"]


async def test_arrangements_take_the_plain_map() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 100)
        await drawn(pilot)
        transcript = app.transcript
        result = transcript.view.arrange(transcript.view.scrollable_content_region.size)
        assert isinstance(result.spatial_map, FewPlacements)
        assert result.total_region == Region(0, 0, transcript.history.size.width, 199)
        assert [each.widget for each in result.get_visible_placements(Region(0, 50, 80, 10))] == [
            transcript.history
        ]


async def test_the_plain_bar_replaces_the_stock_one() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        fill(app.transcript, 100)
        await drawn(pilot)
        bar = app.transcript.view.vertical_scrollbar
        assert isinstance(bar, PlainScrollBar)
        assert (bar.window_virtual_size, bar.window_size, bar.position) == (199, 10, 189)
        strips = bar.render_lines(Region(0, 0, 1, 10))
        assert [strips[-1] == strip for strip in strips] == [False] * 9 + [True]


async def test_a_click_above_the_thumb_scrolls_up() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        fill(app.transcript, 100)
        await drawn(pilot)
        await pilot.click(offset=(79, 1))
        await drawn(pilot)
        assert app.transcript.view.scroll_y == 179


async def test_scrolling_is_never_animated() -> None:
    app = TranscriptApp()
    async with app.run_test(size=(80, 10)) as pilot:
        app.animation_level = "full"
        fill(app.transcript, 100)
        await drawn(pilot)
        app.transcript.view.scroll_page_up()
        await pilot.pause()
        assert app.transcript.view.scroll_y == 179


async def test_drawn_widgets_keep_no_second_cache() -> None:
    app = TranscriptApp()
    async with app.run_test() as pilot:
        fill(app.transcript, 1000)
        await drawn(pilot)
        cache = app.transcript.history._styles_cache
        assert isinstance(cache, NoStylesCache)
        assert (cache._dirty_lines, cache._cache) == (set(), {})


async def test_without_the_tricks_the_screen_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    for is_known in (True, False):
        monkeypatch.setattr(textual_internals, "IS_KNOWN", is_known)
        app = TranscriptApp()
        async with app.run_test(size=(60, 12)) as pilot:
            fill(app.transcript, 100)
            app.transcript.stream_text("m", "a *text* with\n\n- two\n- items")
            await drawn(pilot)
            shown.append([row[:59] for row in screen_rows(app)])
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (widget.Widget, "_size_updated"),
        (widget.Widget, "_scroll_to"),
        (widget.Widget, "_clear_arrangement_cache"),
        (widget.Widget, "vertical_scrollbar"),
        (_styles_cache.StylesCache, "set_dirty"),
        (_styles_cache.StylesCache, "clear"),
        (ScrollBar, "render_lines"),
        (Screen, "clear_selection"),
    ],
)
def test_overridden_methods_still_exist_in_textual(owner: type, name: str) -> None:
    assert hasattr(owner, name)
