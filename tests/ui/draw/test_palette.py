"""Colors from a theme's variables."""

from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from coder_tui.ui.draw.palette import Palette, Syntax, build_palette

BASE = Style.parse("#ffffff on #000000")


def palette(variables: dict[str, str]) -> Palette:
    return build_palette(variables, BASE, Color.parse("#000000"))


def test_a_named_variable_wins_over_its_fallback() -> None:
    style = palette({"text-dim": "#111111", "foreground-muted": "#222222"}).dim
    assert style == BASE + Style.parse("#111111")


def test_a_missing_variable_falls_back() -> None:
    assert palette({"foreground-muted": "#222222"}).dim == BASE + Style.parse("#222222")


def test_without_any_variable_text_keeps_its_own_style() -> None:
    assert palette({}).dim == BASE


def test_a_transparent_color_is_blended_with_the_background() -> None:
    assert palette({"text-dim": "#ffffff80"}).dim.color == Color.parse("#808080").rich_color


def test_a_value_that_is_not_a_color_is_skipped() -> None:
    assert palette({"link": "auto 87%", "text-primary": "#333333"}).link == BASE + Style.parse(
        "#333333 underline"
    )


def test_every_bundled_theme_of_the_library_gives_a_palette() -> None:
    for theme in BUILTIN_THEMES.values():
        built = palette(theme.to_color_system().generate())
        assert set(built.syntax) == set(Syntax)
