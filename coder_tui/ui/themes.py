"""Reads themes from TOML: each file's keys are the fields of a Textual theme."""

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from textual.app import App
from textual.color import Color, ColorParseError
from textual.theme import BUILTIN_THEMES, Theme

from coder_tui.resources import bundled

DEFAULT_THEME = "coder-dark"
_FIELDS = frozenset(field.name for field in fields(Theme))
_ANSI = {"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"}
_GROUNDS = ("surface", "panel", "boost")
_WORDS = frozenset({"auto", "initial"})


class ThemeError(Exception):
    """Names the file and what is wrong in it, in one sentence."""


@dataclass(frozen=True, slots=True)
class Themes:
    """The themes that could be read, and a sentence for each file that could not."""

    themes: tuple[Theme, ...]
    problems: tuple[str, ...]


def first_theme(name: str, user_directory: Path | None = None) -> Themes:
    """Read what the first paint needs: the theme named like its file, and the default."""
    folders = [bundled("themes")] + ([] if user_directory is None else [user_directory])
    return _read(
        [folder / f"{stem}.toml" for folder in folders for stem in dict.fromkeys((DEFAULT_THEME, name))]
    )


def load_themes(user_directory: Path | None = None) -> Themes:
    """Return bundled themes, then the user's own, which win if names are equal."""
    folders = [bundled("themes")] + ([] if user_directory is None else [user_directory])
    return _read([path for folder in folders for path in sorted(folder.glob("*.toml"))])


def own_themes(app: App[Any]) -> list[str]:
    """Return the names of our themes and the user's; those of Textual are hard to read."""
    return sorted(
        name for name, theme in app.available_themes.items() if theme is not BUILTIN_THEMES.get(name)
    )


def _read(paths: list[Path]) -> Themes:
    found: dict[str, Theme] = {}
    problems: list[str] = []
    for path in paths:
        if not path.is_file():
            continue
        try:
            theme = read_theme(path)
        except ThemeError as error:
            problems.append(str(error))
        else:
            found[theme.name] = theme
    return Themes(tuple(found.values()), tuple(problems))


def read_theme(path: Path) -> Theme:
    """Read one file; raise `ThemeError` if something is wrong in it."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ThemeError(f"Theme {path.name} cannot be read: {error}.") from error
    values.setdefault("name", path.stem)
    if unknown := sorted(set(values) - _FIELDS):
        raise ThemeError(f"Theme {path.name} has an unknown key: {unknown[0]}.")
    if "primary" not in values:
        raise ThemeError(f"Theme {path.name} lacks the key primary.")
    return _built(path, values)


def _built(path: Path, values: dict[str, Any]) -> Theme:
    variables = values.get("variables", {})
    if not isinstance(variables, dict) or not all(isinstance(value, str) for value in variables.values()):
        raise ThemeError(f"Theme {path.name}: variables must be strings.")
    if values.get("ansi"):
        # Textual's sheets crash without the first two names, and it makes backgrounds transparent.
        grounds = {name: values[name] for name in _GROUNDS if name in values}
        values["variables"] = _ANSI | grounds | variables
    try:
        theme = Theme(**values)
        theme.to_color_system().generate()
        for name, value in variables.items():
            # A wrong color would crash only when a stylesheet uses it.
            if not name.endswith("-style") and (color := value.split(" ")[0]) not in _WORDS:
                Color.parse(color)
    except (ColorParseError, TypeError, AttributeError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ThemeError(f"Theme {path.name} has a wrong value: {reason}.") from error
    return theme
