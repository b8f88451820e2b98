"""The surface a diff is drawn on: rows on demand, exact heights near the view, colours made in a thread.

What a selection in a diff means: code of one side, without numbers, signs and fillers.
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

from coder_tui.diffs.model import Comparison
from coder_tui.text.safe_text import safe_text
from coder_tui.ui.diff.rows import DiffLook
from coder_tui.ui.diff.sheet import DiffSheet, Shape
from coder_tui.ui.diff.text import Marking
from coder_tui.ui.draw.glyphs import UNICODE, Glyphs
from coder_tui.ui.draw.palette import Palette
from coder_tui.ui.draw.strips import plain_strip
from coder_tui.ui.draw.widget import NARROWEST_DRAWING, DrawnLines
from coder_tui.ui.textual_internals import ScrollsAtOnce


def code_columns(look: DiffLook, selection: Selection, edge: int) -> tuple[int, int]:
    """The columns of code on the side where the selection began."""
    if not look.is_split:
        return edge + look.gutter, edge + look.width
    middle = edge + look.halves[0]
    is_old = selection.start is not None and selection.start.x <= middle
    return (edge + look.gutter, middle) if is_old else (middle + 1 + look.gutter, edge + look.width)


def copied(strips: Sequence[Strip], selection: Selection, look: DiffLook, edge: int) -> str:
    """Lines of code; a line that was wrapped is one line again."""
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
        # A row with room left was broken at a blank.
        is_full = strip.crop(end - 1, end).text != " "
    return "\n".join(lines)


def _part(strip: Strip, selection: Selection, start: int, end: int, number: int, count: int) -> str:
    """A row's code, cut where the selection begins and ends."""
    text = strip.crop(0, end).text
    first = len(strip.crop(0, start).text)
    last = len(text)
    if number == 0 and selection.start is not None:
        first = max(first, selection.start.x)
    if number == count - 1 and selection.end is not None:
        last = min(last, selection.end.x)
    return text[first:last].rstrip()


SPLIT_ROOM = 50
"""Columns of code on a side from which two columns are the default."""
LEAST_ROOM = 20
"""Below so many there are never two."""
EDGE = 1
"""The column that marks the current hunk."""
FEWEST_DIGITS = 3
SCREENS_COPIED_AS_SEEN = 20


class DiffSurface(ScrollsAtOnce, ScrollView, DrawnLines):
    """`is_whole` draws every character of a long line, for a person who has to decide."""

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
        is_whole: bool = False,
        id: str | None = None,
    ) -> None:
        # Past the scrolling container, whose own arguments nobody gives.
        DrawnLines.__init__(self, glyphs=glyphs, id=id)
        self.sheet = DiffSheet(files)
        self.shape = Shape(DiffLook(0, Marking(glyphs, is_whole=is_whole), has_both_numbers=True))
        self.wanted_split: bool | None = None
        self.current = ""
        self.marks: Mapping[str, str] = {}
        self.is_colouring = False
        self._drawn_palette: Palette | None = None

    @property
    def is_split(self) -> bool:
        return self.shape.look.is_split

    def show(self, files: Sequence[Comparison]) -> None:
        """Other files, or the same with other hunks; the reader stays where they are."""
        anchor = self.sheet.anchor(self.scroll_offset.y)
        self.sheet = DiffSheet(files)
        if not any(hunk.id == self.current for file in files for hunk in file.hunks):
            self.current = ""
        self.lay_out(replace(self.shape, opened=frozenset()))
        self.go(self.sheet.row_of(anchor))

    def reshape(self, shape: Shape) -> None:
        """The same lines otherwise; what is at the top of the view stays there."""
        anchor = self.sheet.anchor(self.scroll_offset.y)
        self.lay_out(shape)
        self.go(self.sheet.row_of(anchor))

    def lay_out(self, shape: Shape, width: int | None = None) -> None:
        """Lay out for a width, the present one unless told; what is looked at is to be settled next."""
        self.shape = shape
        if not self.is_attached or not (self.size.width or width):
            return
        room = max(NARROWEST_DRAWING, self.scrollable_content_region.width if width is None else width)
        self.shape = replace(shape, look=self._fitted(shape.look, room - EDGE))
        if self.sheet.shape != self.shape or self._drawn_palette is not self.palette:
            self._drawn_palette = self.palette
            self.sheet.arrange(self.shape, self.palette)
            self._drop_selection()
            self.refresh()

    def _fitted(self, look: DiffLook, width: int) -> DiffLook:
        digits = max(FEWEST_DIGITS, len(str(self.sheet.largest_number)))
        look = replace(look, width=width, digits=digits, left=round(self.scroll_x))
        two = replace(look, is_split=True)
        least = SPLIT_ROOM if self.wanted_split is None else LEAST_ROOM
        is_split = self.wanted_split is not False and two.room >= least
        return two if is_split else replace(look, is_split=False)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """For a place that is as high as the diff: where it may not fit, give it a `max-height`."""
        self.lay_out(self.shape, width - self.styles.scrollbar_size_vertical)
        self.settle(self.scroll_offset.y)
        # Textual adds a row for a bar below, which lines that wrap never need.
        bar = self.styles.scrollbar_size_horizontal if self.shape.look.wraps else 0
        return max(0, self.sheet.index.total - bar)

    @property
    def is_end_in_view(self) -> bool:
        """Whether the last row is before the reader's eyes."""
        return bool(self.size) and self.scroll_offset.y + self.size.height >= self.sheet.index.total

    def go(self, row: int) -> None:
        """Put a row at the top of the view."""
        if self.is_attached:
            self.scroll_to(y=self.settle(row), animate=False)

    def settle(self, row: int) -> int:
        """Make the rows around one exact; returns where it is then, with those above more or fewer."""
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
        if self.palette is not self._drawn_palette:
            for colours in self.sheet.colours:
                colours.forget()
            self.lay_out(self.shape)
            self.settle(self.scroll_offset.y)
        start = max(0, first - 1)
        pairs = list(self.sheet.rows(start, last))
        above = pairs[0][1] if pairs and start < first else ""
        # Where no bar is needed, its column is still kept free.
        width = max(self.size.width, self.shape.look.width + EDGE)
        margin = Strip.blank(width - self.shape.look.width - EDGE, self.palette.base)
        edged = []
        for strip, hunk in pairs[first - start :]:
            edged.append(Strip.join([self._edge(hunk, is_first=hunk != above), strip, margin]))
            above = hunk
        self._colour_soon()
        blank = plain_strip("", width, self.palette.base)
        return edged + [blank] * (last - first - len(edged))

    def _edge(self, hunk: str, *, is_first: bool) -> Strip:
        mark = self.marks.get(hunk, "") if is_first else ""
        bar = self.palette.glyphs.user if hunk and hunk == self.current else " "
        return Strip([Segment(mark or bar, self.palette.user)], EDGE)

    def render_line(self, y: int) -> Strip:
        row = y + self.scroll_offset.y
        return self.rows(row, row + 1)[0].apply_offsets(0, row)

    def render_lines(self, crop: Region) -> list[Strip]:
        return DrawnLines.render_lines(self, crop.translate((0, self.scroll_offset.y)))

    def selected_span(self, selection: Selection, y: int, strip: Strip) -> tuple[int, int] | None:
        """Of two columns only the one in which the selection began."""
        span = selection.get_span(y)
        if span is None:
            return None
        first, last = (
            len(strip.crop(0, column).text) for column in code_columns(self.shape.look, selection, EDGE)
        )
        end = last if span[1] < 0 else min(span[1], last)
        return max(span[0], first), min(end, len(strip.text.rstrip()))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The code itself, without numbers and signs; what is very much comes from the files, undrawn."""
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self.sheet.index.total - 1
        if last - first > SCREENS_COPIED_AS_SEEN * self.app.size.height:
            return safe_text(self.sheet.source), "\n"
        return copied(self.rows(first, last + 1), selection, self.shape.look, EDGE), "\n"

    def _drop_selection(self) -> None:
        """It names rows, and rows have moved."""
        if self in self.screen.selections:
            self.screen.clear_selection()

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

    def _colour_soon(self) -> None:
        """Lines were drawn without colours: have them made."""
        if not self.is_colouring and any(colours.is_wanting for colours in self.sheet.colours):
            self.is_colouring = True
            # Not before this frame is out: the thread would compete with it.
            self.call_after_refresh(lambda: self.run_worker(self._colour(), name="colours"))

    async def _colour(self) -> None:
        sheet, palette = self.sheet, self.palette
        try:
            for colours in sheet.colours:
                for bucket in colours.take():
                    lines = await asyncio.to_thread(colours.make, bucket, palette)
                    if palette is self._drawn_palette:
                        colours.keep(bucket, lines)
        finally:
            self.is_colouring = False
        self.sheet.redraw()
        self.refresh()
