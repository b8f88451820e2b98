"""Themes are readable, in both senses."""

from itertools import product
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

from coder_tui.ui.themes import load_themes, read_theme
from tests.fakes.colours import SIGHT, contrast, distance

BUNDLED = {theme.name: theme for theme in load_themes().themes}
SHIPPED = (
    *("coder-dark", "coder-light", "high-contrast", "colour-blind"),
    *("nord", "gruvbox", "dracula", "solarized-light", "ansi-16"),
)
GROUNDS = ("background", "surface", "panel")
INKS = (
    *("text", "text-muted", "text-dim", "text-primary", "text-secondary", "text-accent"),
    *("text-warning", "text-error", "text-success", "link", "footer-key-foreground"),
)
SYNTAX = tuple(f"syntax-{kind}" for kind in ("keyword", "string", "number", "comment", "function", "type"))
PAIRS = [
    *product(INKS, GROUNDS),
    *product((*SYNTAX, "code-fg"), ("code-bg", "background")),
    *product(("diff-add-fg", "text-success"), ("diff-add-bg",)),
    *product(("diff-del-fg", "text-error"), ("diff-del-bg",)),
    *(("background", ground) for ground in ("primary", "warning", "error", "success")),
    ("block-cursor-foreground", "block-cursor-background"),
    ("input-selection-foreground", "input-selection-background"),
    ("screen-selection-foreground", "screen-selection-background"),
    ("input-cursor-foreground", "input-cursor-background"),
]

# Sixteen colours have no red that can be read on red; no screen puts this one there.
NEVER_TOGETHER = {("ansi-16", "text-error", "diff-del-bg")}


def color(theme: Theme, name: str) -> Color:
    return Color.parse(theme.variables.get(name) or getattr(theme, name))


def test_our_themes_ship() -> None:
    assert sorted(BUNDLED) == sorted(SHIPPED)
    assert load_themes().problems == ()


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_every_text_can_be_read(name: str) -> None:
    theme = BUNDLED[name]
    weak = {
        pair: round(value, 2)
        for pair in PAIRS
        if (name, *pair) not in NEVER_TOGETHER
        and (value := contrast(color(theme, pair[0]), color(theme, pair[1]))) < 4.5
    }
    assert weak == {}


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_borders_can_be_seen(name: str) -> None:
    theme = BUNDLED[name]
    weak = {
        pair: round(value, 2)
        for pair in product(("border", "border-blurred"), ("background", "surface"))
        if (value := contrast(color(theme, pair[0]), color(theme, pair[1]))) < 3
    }
    assert weak == {}


@pytest.mark.parametrize(("name", "sight"), list(product(sorted(BUNDLED), SIGHT)))
def test_added_and_deleted_differ_for_every_eye(name: str, sight: str) -> None:
    theme = BUNDLED[name]
    assert distance(color(theme, "diff-add-bg"), color(theme, "diff-del-bg"), sight) >= 20


def test_a_user_theme_wins_over_a_bundled_one_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "coder-dark"\nprimary = "#123456"\n')
    themes = {theme.name: theme for theme in load_themes(tmp_path).themes}
    assert themes["coder-dark"] == Theme(name="coder-dark", primary="#123456")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("primary = ", "Theme bad.toml cannot be read: "),
        ('primary = "#123456"\nprimry = 1', "Theme bad.toml has an unknown key: primry."),
        ('secondary = "red"', "Theme bad.toml lacks the key primary."),
        ('primary = "no colour"', "Theme bad.toml has a wrong value: "),
        ("primary = 7", "Theme bad.toml has a wrong value: "),
        ('primary = "#123456"\n[variables]\nlink = 3', "Theme bad.toml: variables must be strings."),
        ('primary = "#123456"\n[variables]\nlink = "#12"', "Theme bad.toml has a wrong value: "),
    ],
)
def test_a_wrong_theme_gives_one_sentence_and_is_skipped(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "bad.toml").write_text(text)
    loaded = load_themes(tmp_path)
    assert sorted(theme.name for theme in loaded.themes) == sorted(SHIPPED)
    assert len(loaded.problems) == 1
    assert loaded.problems[0].startswith(sentence)
    assert "\n" not in loaded.problems[0]


def test_a_theme_without_a_name_is_called_after_its_file(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text('primary = "#123456"\n')
    assert read_theme(tmp_path / "plain.toml").name == "plain"
