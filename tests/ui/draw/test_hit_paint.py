"""Marks on drawn rows can be read in every theme."""

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.strip import Strip

from coder_tui.ui.diff.text import READABLE, contrast
from coder_tui.ui.draw.palette import Palette, build_palette
from coder_tui.ui.draw.search_hits import Hit, HitPaint, marked_row, pattern_of
from coder_tui.ui.themes import load_themes

BUNDLED = {theme.name: theme for theme in load_themes().themes if not theme.name.startswith("ansi")}


def palette_of(name: str) -> Palette:
    theme = BUNDLED[name]
    variables = {**theme.to_color_system().generate(), **theme.variables}
    background = Color.parse(variables["background"])
    base = Style(color=Color.parse(variables["foreground"]).rich_color, bgcolor=background.rich_color)
    return build_palette(variables, base, background)


def contrast_of(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    assert style.color.triplet is not None
    assert style.bgcolor.triplet is not None
    return contrast(style.color.triplet, style.bgcolor.triplet)


@pytest.mark.parametrize("name", BUNDLED)
def test_a_marked_row_and_its_hits_can_be_read(name: str) -> None:
    palette = palette_of(name)
    inks = [palette.base, palette.dim, palette.failed, palette.warning, palette.running, palette.link]
    inks += [palette.base + ink for ink in palette.syntax.values()]
    row = Strip([Segment("  ", palette.base), *(Segment("needle ", ink) for ink in inks)])
    paint = HitPaint()
    paint.show(pattern_of("eed"), Hit(0, 0))
    marked = [*marked_row(row, palette), *marked_row(paint.paint(0, [row], palette)[0], palette)]
    poor = {str(part.style) for part in marked if part.style and contrast_of(part.style) < READABLE}
    assert poor == set()


def test_a_hit_and_the_mark_show_without_colors() -> None:
    palette = palette_of("coder-dark")
    assert palette.hit.reverse
    assert palette.cursor_bar.reverse
    assert palette.current_hit.underline
    assert palette.current_hit.reverse


def test_wide_characters_keep_their_columns() -> None:
    palette = palette_of("coder-dark")
    row = Strip([Segment("漢字 needle 漢", palette.base)])
    paint = HitPaint()
    paint.show(pattern_of("needle"), Hit(0, 0))
    (painted,) = paint.paint(0, [row], palette)
    assert painted.text == row.text
    assert [part.text for part in painted if part.style == palette.base + palette.current_hit] == ["needle"]
    assert marked_row(painted, palette).text == row.text
