"""Everything in a diff is readable in every theme, including changed words."""

from dataclasses import replace

import pytest
from rich.color import ColorType
from rich.style import Style
from textual.color import Color

from coder_tui.ui.diff.text import READABLE, VISIBLE, DiffStyles, LineStyles, contrast, diff_styles
from coder_tui.ui.draw.palette import Palette, build_palette
from coder_tui.ui.themes import load_themes

BUNDLED = {theme.name: theme for theme in load_themes().themes}


def palette_of(name: str) -> Palette:
    theme = BUNDLED[name]
    variables = {**theme.to_color_system().generate(), **theme.variables}
    background = Color.parse(variables["background"])
    base = Style(color=Color.parse(variables["foreground"]).rich_color, bgcolor=background.rich_color)
    return build_palette(variables, base, background)


def grounds(styles: DiffStyles) -> dict[str, LineStyles]:
    return {"same": styles.same, "added": styles.added, "deleted": styles.deleted}


def is_rgb(style: Style) -> bool:
    colors = (style.color, style.bgcolor)
    return all(color is not None and color.type is ColorType.TRUECOLOR for color in colors)


def contrast_of(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    assert style.color.triplet is not None
    assert style.bgcolor.triplet is not None
    return contrast(style.color.triplet, style.bgcolor.triplet)


RGB = [name for name in sorted(BUNDLED) if is_rgb(palette_of(name).add)]


@pytest.mark.parametrize("name", RGB)
def test_every_style_is_readable_on_its_background(name: str) -> None:
    weak: dict[tuple[str, str], float] = {}
    for kind, ground in grounds(diff_styles(palette_of(name))).items():
        styles = [ground.plain, ground.word, ground.sign, ground.mark]
        styles += [*ground.syntax.values(), *ground.word_syntax.values()]
        weak.update(
            {(kind, str(style)): contrast_of(style) for style in styles if contrast_of(style) < READABLE}
        )
    assert weak == {}


@pytest.mark.parametrize("name", RGB)
def test_changed_words_stand_out_without_colors_too(name: str) -> None:
    styles = diff_styles(palette_of(name))
    for ground in (styles.added, styles.deleted):
        assert ground.word.bold
        assert ground.word.bgcolor != ground.plain.bgcolor
        assert all(style.bold for style in ground.word_syntax.values())


@pytest.mark.parametrize("name", RGB)
def test_fillers_are_visible_and_weaker_than_the_text(name: str) -> None:
    styles = diff_styles(palette_of(name))
    assert VISIBLE <= contrast_of(styles.filler) < contrast_of(styles.same.plain)


def test_colors_of_the_terminal_are_unchanged() -> None:
    ansi = Style.parse("red on blue")
    styles = diff_styles(replace(palette_of("coder-dark"), add=ansi))
    assert styles.added.plain == ansi
    assert styles.added.word == ansi + Style(bold=True, underline=True)
