"""Draw a diff: rows on demand, exact heights near the view, colors computed in a thread.

A selection copies the code of one side, without line numbers, signs and fillers.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from coder_tui.protocol.comparison import Comparison
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.diff.rows import DiffLook
from coder_tui.ui.diff.sheet import DiffSheet, Shape
from coder_tui.ui.diff.text import WhitespaceMarks
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import plain_strip
from coder_tui.ui.draw.widget import NARROWEST_DRAWING, DrawnLines
from coder_tui.ui.glyphs import UNICODE, Glyphs
from coder_tui.ui.textual_internals import ScrollsAtOnce


def code_columns(look: DiffLook, selection: Selection, edge: int) -> tuple[int, int]:
    """Return the columns of code on the side where the selection began."""
    if not look.is_split:
        return edge + look.gutter, edge + look.width
    middle = edge + look.halves[0]
    is_old = selection.start is not None and selection.start.x <= middle
    return (edge + look.gutter, middle) if is_old else (middle + 1 + look.gutter, edge + look.width)


def copied(strips: Sequence[Strip], selection: Selection, look: DiffLook, edge: int) -> str:
    """Return the selected code; a wrapped line is one line again."""
    start, end = code_columns(look, selection, edge)
    lines: list[str] = []
    is_full = True
    for number, strip in enumerate(strips):
        gutter = strip.crop(start - look.gutter, start).text
        text = _part(strip, selection, start, end, number, len(strips))
        if look.marking.glyphs.wrapped in gutter and lines:
            lines[-1] += ("" if is_full else " ") + text.lstrip(" ")
        elif any(char.isdigit() for char in gutter):
            lines.append(text)
        # A row that is not full was broken at a blank.
        is_full = strip.crop(end - 1, end).text != " "
    return "\n".join(lines)


def _part(strip: Strip, selection: Selection, start: int, end: int, number: int, count: int) -> str:
    """Return the selected part of a row."""
    text = strip.crop(0, end).text
    first = len(strip.crop(0, start).text)
    last = len(text)
    if number == 0 and selection.start is not None:
        first = max(first, selection.start.x)
    if number == count - 1 and selection.end is not None:
        last = min(last, selection.end.x)
    return text[first:last].rstrip()


EDGE = 1
"""The column that marks the current hunk."""
FEWEST_DIGITS = 3
SCREENS_COPIED_AS_SEEN = 20


class DiffSurface(ScrollsAtOnce, ScrollView, DrawnLines):
    """Draws compared files; `DiffView` adds the keys."""

    DEFAULT_CSS = """
    DiffSurface {
        height: 1fr; width: 1fr; overflow: auto; scrollbar-gutter: stable;
        scrollbar-size-vertical: 1; scrollbar-size-horizontal: 1;
    }
    """

    def __init__(
        self,
        files: Sequence[Comparison] = (),
        *,
        glyphs: Glyphs = UNICODE,
        id: str | None = None,
    ) -> None:
        # Not the scrolling container's constructor, which takes other arguments.
        DrawnLines.__init__(self, glyphs=glyphs, id=id)
        self.sheet = DiffSheet(files)
        self.shape = Shape(DiffLook(0, WhitespaceMarks(glyphs), has_both_numbers=True))
        self.wanted_split: bool | None = None
        self.current = ""
        self.marks: Mapping[str, str] = {}
        self.coloring = _BackgroundColoring(self)
        self.drawn_palette: Palette | None = None

    def show(self, files: Sequence[Comparison]) -> None:
        """Show other files, or the same with other hunks; the view stays where it is."""
        anchor = self.sheet.anchor(self.scroll_offset.y)
        self.sheet = DiffSheet(files)
        if not any(hunk.id == self.current for file in files for hunk in file.hunks):
            self.current = ""
        self.lay_out(replace(self.shape, opened=frozenset()))
        self.go(self.sheet.row_of(anchor))

    def reshape(self, shape: Shape) -> None:
        """Show the same lines in another shape; the line at the top of the view stays there."""
        anchor = self.sheet.anchor(self.scroll_offset.y)
        self.lay_out(shape)
        self.go(self.sheet.row_of(anchor))

    def lay_out(self, shape: Shape, width: int | None = None) -> None:
        """Lay out at a width, by default the current one; the caller settles the view next."""
        self.shape = shape
        if not self.is_attached or not (self.size.width or width):
            return
        room = max(NARROWEST_DRAWING, self.scrollable_content_region.width if width is None else width)
        digits = max(FEWEST_DIGITS, len(str(self.sheet.largest_number)))
        look = replace(shape.look, digits=digits, left=round(self.scroll_x))
        self.shape = replace(shape, look=look.fit(room - EDGE, self.wanted_split))
        if self.sheet.shape != self.shape or self.drawn_palette is not self.palette:
            self.drawn_palette = self.palette
            self.sheet.arrange(self.shape, self.palette)
            # A selection names rows, and rows have moved.
            if self in self.screen.selections:
                self.screen.clear_selection()
            self.refresh()

    def go(self, row: int) -> None:
        """Scroll a row to the top of the view."""
        if self.is_attached:
            self.scroll_to(y=self.settle(row), animate=False)

    def settle(self, row: int) -> int:
        """Draw the rows around one and return where it is now: heights above it may have changed."""
        place = self.sheet.index.place_of(row)
        self.sheet.settle(place, self.size.height)
        look = self.shape.look
        beyond = 0 if look.wraps else max(0, self.sheet.widest - look.room)
        self.virtual_size = Size(look.width + EDGE + beyond, self.sheet.index.total)
        exact = self.sheet.index.row_of(place)
        if exact != row and row == self.scroll_offset.y:
            self.place_scroll(exact)
        return exact

    def rows(self, first: int, last: int) -> list[Strip]:
        if self.palette is not self.drawn_palette:
            for colors in self.sheet.colors:
                colors.forget()
            self.lay_out(self.shape)
            self.settle(self.scroll_offset.y)
        start = max(0, first - 1)
        pairs = list(self.sheet.rows(start, last))
        above = pairs[0][1] if pairs and start < first else ""
        # The column of the scrollbar stays free even if there is none.
        width = max(self.size.width, self.shape.look.width + EDGE)
        margin = Strip.blank(width - self.shape.look.width - EDGE, self.palette.base)
        edged = []
        for strip, hunk in pairs[first - start :]:
            mark = self.marks.get(hunk, "") if hunk != above else ""
            bar = self.palette.glyphs.user if hunk and hunk == self.current else " "
            edge = Strip([Segment(mark or bar, self.palette.user)], EDGE)
            edged.append(Strip.join([edge, strip, margin]))
            above = hunk
        self.coloring.start_if_needed()
        blank = plain_strip("", width, self.palette.base)
        return edged + [blank] * (last - first - len(edged))

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        return self.rows(row, row + 1)[0].apply_offsets(0, row)

    def render_lines(self, crop: Region) -> list[Strip]:
        return DrawnLines.render_lines(self, crop.translate((0, self.scroll_offset.y)))

    def selected_span(self, selection: Selection, y: int, strip: Strip) -> tuple[int, int] | None:
        """Limit the selection to the column in which it began."""
        span = selection.get_span(y)
        if span is None:
            return None
        first, last = (
            len(strip.crop(0, column).text) for column in code_columns(self.shape.look, selection, EDGE)
        )
        end = last if span[1] < 0 else min(span[1], last)
        return max(span[0], first), min(end, len(strip.text.rstrip()))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the code without numbers and signs; a very long selection is taken from the files."""
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self.sheet.index.total - 1
        if last - first > SCREENS_COPIED_AS_SEEN * self.app.size.height:
            return safe_text(self.sheet.source), "\n"
        return copied(self.rows(first, last + 1), selection, self.shape.look, EDGE), "\n"

    def on_resize(self, event: events.Resize) -> None:
        self.reshape(self.shape)

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_x(old_value, new_value)
        if round(old_value) != round(new_value):
            self.lay_out(self.shape)
            self.settle(self.scroll_offset.y)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.settle(round(new_value))


class _BackgroundColoring:
    """Has lines that were drawn without colors colored in a thread."""

    def __init__(self, surface: DiffSurface) -> None:
        self._surface = surface
        self.is_running = False

    def start_if_needed(self) -> None:
        surface = self._surface
        if not self.is_running and any(colors.has_requests for colors in surface.sheet.colors):
            self.is_running = True
            # Not before this frame is out: the thread would compete with it.
            surface.call_after_refresh(lambda: surface.run_worker(self._run(), name="colors"))

    async def _run(self) -> None:
        surface = self._surface
        palette = surface.palette
        try:
            for colors in surface.sheet.colors:
                for bucket in colors.pop_requests():
                    lines = await asyncio.to_thread(colors.compute, bucket, palette)
                    if palette is surface.drawn_palette:
                        colors.store(bucket, lines)
        finally:
            self.is_running = False
        surface.sheet.redraw()
        surface.refresh()
