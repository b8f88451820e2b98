"""Everything in a diff can be read in every theme, also where words changed."""

from dataclasses import replace

import pytest
from rich.color import ColorType
from rich.style import Style
from textual.color import Color

from coder_tui.ui.diff.text import READABLE, VISIBLE, DiffInks, Ground, contrast, diff_inks
from coder_tui.ui.draw.palette import Palette, build_palette
from coder_tui.ui.themes import load_themes

BUNDLED = {theme.name: theme for theme in load_themes().themes}


def palette_of(name: str) -> Palette:
    theme = BUNDLED[name]
    variables = {**theme.to_color_system().generate(), **theme.variables}
    background = Color.parse(variables["background"])
    base = Style(color=Color.parse(variables["foreground"]).rich_color, bgcolor=background.rich_color)
    return build_palette(variables, base, background)


def grounds(inks: DiffInks) -> dict[str, Ground]:
    return {"same": inks.same, "added": inks.added, "deleted": inks.deleted}


def is_rgb(style: Style) -> bool:
    colours = (style.color, style.bgcolor)
    return all(colour is not None and colour.type is ColorType.TRUECOLOR for colour in colours)


def contrast_of(style: Style) -> float:
    assert style.color is not None
    assert style.bgcolor is not None
    assert style.color.triplet is not None
    assert style.bgcolor.triplet is not None
    return contrast(style.color.triplet, style.bgcolor.triplet)


RGB = [name for name in sorted(BUNDLED) if is_rgb(palette_of(name).add)]


@pytest.mark.parametrize("name", RGB)
def test_every_ink_can_be_read_on_every_ground(name: str) -> None:
    weak: dict[tuple[str, str], float] = {}
    for kind, ground in grounds(diff_inks(palette_of(name))).items():
        styles = [ground.plain, ground.word, ground.sign, ground.mark]
        styles += [*ground.syntax.values(), *ground.word_syntax.values()]
        weak.update(
            {(kind, str(style)): contrast_of(style) for style in styles if contrast_of(style) < READABLE}
        )
    assert weak == {}


@pytest.mark.parametrize("name", RGB)
def test_changed_words_stand_out_without_colours_too(name: str) -> None:
    inks = diff_inks(palette_of(name))
    for ground in (inks.added, inks.deleted):
        assert ground.word.bold
        assert ground.word.bgcolor != ground.plain.bgcolor
        assert all(style.bold for style in ground.word_syntax.values())


@pytest.mark.parametrize("name", RGB)
def test_fillers_can_be_seen_and_stay_behind_the_text(name: str) -> None:
    inks = diff_inks(palette_of(name))
    assert VISIBLE <= contrast_of(inks.filler) < contrast_of(inks.same.plain)


def test_colours_of_the_terminal_are_left_as_they_are() -> None:
    ansi = Style.parse("red on blue")
    inks = diff_inks(replace(palette_of("coder-dark"), add=ansi))
    assert inks.added.plain == ansi
    assert inks.added.word == ansi + Style(bold=True, underline=True)
