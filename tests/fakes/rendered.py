"""Looks at what a screen really draws: colours of its pieces of text, and words that have no room."""

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from rich.cells import cell_len
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.visual import Visual
from textual.widget import Widget
from textual.widgets import TextArea

from coder_tui.ui.themes import own_themes
from tests.fakes.accepted import picture
from tests.fakes.colours import SIGHT, contrast, distance
from tests.fakes.screens import Stage
from tests.fakes.views import VIEWS, at_rest, shown

SIZES = ((80, 24), (100, 30), (140, 40), (200, 50))
PICTURED = ((80, 24), (140, 40))
TEXT, MARK, APART = 4.5, 3.0, 20.0
TITLE_ROOM = 4
"""Columns of a border that a title does not have."""


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    ink: Color
    ground: Color


def cells(s: Stage) -> Iterator[Cell]:
    """Pieces of text on the top screen; what lies dimmed below a dialog is not meant to be read."""
    top = s.app.screen
    frame = top.size.region if top is s.screen else Region.from_union([w.region for w in top.children])
    for y, strip in enumerate(top._compositor.render_strips()):
        if frame.y <= y < frame.bottom:
            for segment in strip.crop(frame.x, frame.right):
                yield from _cell(segment)


def _cell(segment: Segment) -> Iterator[Cell]:
    style = segment.style or Style()
    if segment.text.strip() and style.color is not None and style.bgcolor is not None:
        ink, ground = _seen(style.color, is_ink=True), _seen(style.bgcolor, is_ink=False)
        yield Cell(segment.text, *((ground, ink) if style.reverse else (ink, ground)))


def _seen(color: RichColor, *, is_ink: bool) -> Color:
    """As a dark terminal shows it."""
    if color.is_default:
        return Color(255, 255, 255) if is_ink else Color(0, 0, 0)
    return Color(*color.get_truecolor())


def weak(s: Stage) -> set[tuple[str, float]]:
    """Words below 4.5, and signs and lines below 3."""
    disabled = Color.parse(s.app.theme_variables["text-disabled"])
    found = set()
    for cell in cells(s):
        least = TEXT if any(character.isalnum() for character in cell.text) else MARK
        value = contrast(cell.ink, cell.ground)
        if value < least and (cell.ink.r, cell.ink.g, cell.ink.b) != disabled.rgb:
            found.add((cell.text.strip()[:30], round(value, 2)))
    return found


def alike(s: Stage) -> set[tuple[str, float]]:
    """Grounds of added and deleted lines that an eye of some kind can hardly tell apart."""
    grounds: dict[str, set[Color]] = {"+ ": set(), "- ": set()}
    for cell in cells(s):
        grounds.get(cell.text, set()).add(cell.ground)
    apart = {
        (sight, round(distance(added, deleted, sight), 1))
        for added in grounds["+ "]
        for deleted in grounds["- "]
        for sight in SIGHT
    }
    return {(sight, value) for sight, value in apart if value < APART}


@dataclass(frozen=True, slots=True)
class Look:
    """What one view looks like: its pictures by size, and all that is wrong with it."""

    pictures: dict[str, str]
    faults: dict[str, object]


async def look(name: str, share: int = 3) -> Look:
    """Open a view once and look at it at every size, and in one of `share` parts of the themes.

    Which part depends on the view: all of them together see every theme. `bench.readable` looks at all.
    """
    view, pictures, found = VIEWS[name], dict[str, str](), dict[str, object]()
    async with shown(name, SIZES[0]) as s:
        sizes = (view.size,) if view.size else SIZES
        for size in sizes:
            if size != SIZES[0]:
                await s.pilot.resize_terminal(*size)
                await at_rest(s)
            where = f"{size[0]}x{size[1]}"
            if size in PICTURED or view.size:
                pictures[where] = picture(s)
            found[f"{where} has no room for"] = clipped(s)
            found[f"{where} footer"] = s.screen.status.size.height != 1
            themes = own_themes(s.app)[crc32(name.encode()) % share :: share]
            for theme in themes if size == sizes[-1] else (s.app.theme,):
                s.app.theme = theme
                await s.pilot.pause()
                found[f"{where} {theme} cannot be read"] = weak(s)
                found[f"{where} {theme} looks alike"] = alike(s)
    return Look(pictures, {what: value for what, value in found.items() if value})


def clipped(s: Stage) -> list[str]:
    """What has more to say than there is room, and neither scrolls nor shows by a sign that it goes on."""
    found = []
    for widget in s.app.screen.walk_children(Widget):
        if widget.is_on_screen and widget.visible and widget.size.area:
            found += [
                f"{_name(widget)}: {what}" for what in (*_cut_by_itself(widget), *_cut_by_others(widget))
            ]
    return found


def _cut_by_itself(widget: Widget) -> Iterator[str]:
    for title in (widget.border_title, widget.border_subtitle):
        if title and cell_len(str(title)) > widget.outer_size.width - TITLE_ROOM:
            yield f"title {title}"
    if isinstance(widget, ScrollView | TextArea) or _scrolls(widget):
        return
    if type(widget).render_line is not Widget.render_line:
        for y in range(widget.size.height):
            strip = widget.render_line(y)
            if strip.cell_length > widget.size.width and strip.crop(widget.size.width).text.strip():
                yield strip.text.strip()
    elif not widget.children and widget.styles.text_overflow != "ellipsis":
        yield from _cut_words(widget, widget._render())


def _cut_words(widget: Widget, visual: Visual) -> Iterator[str]:
    width, height = widget.content_size
    if widget.styles.text_wrap == "nowrap":
        lines = str(visual).splitlines()
        yield from (line for line in lines if cell_len(line.rstrip()) > width)
        needed = len(lines)
    else:
        needed = visual.get_height(widget.styles.get_rules(), width)
    if needed > height:
        yield f"{needed} rows in {height}: {visual}"


def _cut_by_others(widget: Widget) -> Iterator[str]:
    """By the frame of a parent that does not scroll."""
    is_scrolled = any(isinstance(parent, Widget) and _scrolls(parent) for parent in widget.ancestors)
    if not widget.children and not is_scrolled:
        region, _, clip, *_ = widget.screen.find_widget(widget)
        if region.intersection(clip).size != region.size:
            yield f"only {clip.intersection(region).size} of {region.size} is visible"


def _scrolls(widget: Widget) -> bool:
    ways = (widget.styles.overflow_x, widget.styles.overflow_y)
    return not isinstance(widget, Screen) and any(way in {"auto", "scroll"} for way in ways)


def _name(widget: Widget) -> str:
    return f"{type(widget).__name__}#{widget.id}" if widget.id else type(widget).__name__
