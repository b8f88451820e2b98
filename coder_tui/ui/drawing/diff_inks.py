"""The styles of a diff, derived from the palette: readable on every ground, changed words stronger."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rich.color import Color, ColorType, blend_rgb
from rich.color_triplet import ColorTriplet
from rich.style import Style

from coder_tui.ui.drawing.palette import Palette

READABLE = 4.5
VISIBLE = 3.0
_FADES = (0.0, 0.25, 0.5, 0.75)
"""How far a colour may go to the ground's own ink until it can be read."""
_STRENGTHS = (0.3, 0.26, 0.22, 0.18, 0.14, 0.1)
"""How far a changed word's ground goes from the line's ground to its ink; the first that can be read."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What stands on one kind of line; `syntax` and `word_syntax` are by the palette's own styles."""

    plain: Style
    word: Style
    sign: Style
    mark: Style
    syntax: Mapping[Style, Style]
    word_syntax: Mapping[Style, Style]


@dataclass(frozen=True, slots=True)
class DiffInks:
    same: Ground
    added: Ground
    deleted: Ground
    dim: Style
    filler: Style


def diff_inks(palette: Palette) -> DiffInks:
    kinds = tuple(palette.syntax.values())
    return DiffInks(
        same=_ground(palette.base, palette.base, palette.dim, kinds),
        added=_ground(palette.add, palette.add_sign, palette.dim, kinds),
        deleted=_ground(palette.delete, palette.delete_sign, palette.dim, kinds),
        dim=palette.dim,
        filler=_faded(palette.dim),
    )


@lru_cache(32)
def _ground(plain: Style, sign: Style, dim: Style, kinds: tuple[Style, ...]) -> Ground:
    word = _word(plain)
    return Ground(
        plain=plain,
        word=word,
        sign=sign,
        mark=_readable(plain, Style(color=dim.color)),
        syntax={kind: _readable(plain, kind) for kind in kinds},
        word_syntax={kind: _readable(word, kind) for kind in kinds},
    )


def _word(plain: Style) -> Style:
    """Bold too, so that a screen without colours shows it."""
    ink, ground = rgb(plain.color), rgb(plain.bgcolor)
    if ink is None or ground is None:
        return plain + Style(bold=True, underline=True)
    for strength in _STRENGTHS:
        stronger = blend_rgb(ground, ink, strength)
        if contrast(ink, stronger) >= READABLE:
            return plain + Style(bgcolor=Color.from_triplet(stronger), bold=True)
    return plain + Style(bold=True, underline=True)


def _readable(ground: Style, ink: Style) -> Style:
    """The ink on a ground, as near to itself as can be read there."""
    color, own, back = rgb(ink.color), rgb(ground.color), rgb(ground.bgcolor)
    if color is None or own is None or back is None:
        return ground + ink if _is_readable(ink.color, ground.bgcolor) else ground + Style(italic=ink.italic)
    for fade in _FADES:
        nearer = blend_rgb(color, own, fade)
        if contrast(nearer, back) >= READABLE:
            return ground + ink + Style(color=Color.from_triplet(nearer))
    return ground + Style(italic=ink.italic)


def _is_readable(ink: Color | None, ground: Color | None) -> bool:
    """Of colours that the terminal knows by number: as most terminals show them."""
    if ink is None or ground is None or ink.is_default or ground.is_default:
        return True
    return contrast(ink.get_truecolor(), ground.get_truecolor()) >= READABLE


def _faded(ink: Style) -> Style:
    """As near to the ground as a sign may be and still be seen."""
    color, back = rgb(ink.color), rgb(ink.bgcolor)
    if color is None or back is None:
        return ink
    fades = (blend_rgb(color, back, 1 - strength / 20) for strength in range(1, 20))
    seen = next((fade for fade in fades if contrast(fade, back) >= VISIBLE), color)
    return ink + Style(color=Color.from_triplet(seen))


def rgb(color: Color | None) -> ColorTriplet | None:
    return color.triplet if color is not None and color.type is ColorType.TRUECOLOR else None


def contrast(one: ColorTriplet, other: ColorTriplet) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: ColorTriplet) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in color.normalized
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
