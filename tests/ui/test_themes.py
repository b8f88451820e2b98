"""Themes are readable, in both senses."""

from itertools import product
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

from coder_tui.ui.themes import load_themes, read_theme

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
    ("input-cursor-foreground", "input-cursor-background"),
]

# Sixteen colours have no red that can be read on red; no screen puts this one there.
NEVER_TOGETHER = {("ansi-16", "text-error", "diff-del-bg")}


def color(theme: Theme, name: str) -> Color:
    return Color.parse(theme.variables.get(name) or getattr(theme, name))


def luminance(value: Color) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in value.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: Color, other: Color) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: tuple[float, float, float]) -> tuple[float, float, float]:
    r, g, b = rgb
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


# Machado, Oliveira and Fernandes (2009), severity 1.0, in linear light.
SIGHT = {
    "normal": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
}


def seen(value: Color, sight: str) -> tuple[float, float, float]:
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in value.normalized]
    r, g, b = (
        max(0.0, sum(weight * part for weight, part in zip(row, linear, strict=True))) for row in SIGHT[sight]
    )
    return lab((r, g, b))


def distance(one: Color, other: Color, sight: str) -> float:
    pairs = zip(seen(one, sight), seen(other, sight), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


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


def test_a_persons_theme_wins_over_a_bundled_one_of_its_name(tmp_path: Path) -> None:
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
        ('primary = "#123456"\n[variables]\nlink = 3', "Theme bad.toml: variables have to be strings."),
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
