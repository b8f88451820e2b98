"""Bases of widgets that draw their own rows, without border or padding, with text that can be selected."""

import asyncio
from abc import abstractmethod
from dataclasses import replace

from rich.style import Style
from textual.app import RenderResult
from textual.geometry import Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from coder_tui.ui.draw.palette import Palette, build_palette
from coder_tui.ui.draw.strips import plain_strip
from coder_tui.ui.glyphs import UNICODE, Glyphs
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context
from coder_tui.ui.textual_internals import LaysOutOnce, drop_styles_cache

NARROWEST_DRAWING = 20
"""Columns: a narrower widget shows the left part of rows drawn at this width."""


class DrawnLines(LaysOutOnce, Widget):
    DEFAULT_CSS = "DrawnLines { height: auto; width: 1fr; }"

    def __init__(self, *, glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._palette: Palette | None = None
        self._palette_key: object = None
        drop_styles_cache(self)

    @abstractmethod
    def rows(self, first: int, last: int) -> list[Strip]:
        """Return exactly the rows from `first` up to `last`, blank ones if there are fewer."""

    @property
    def palette(self) -> Palette:
        """The styles of the theme; the same object until the theme changes."""
        key = (id(self.app.theme_variables), self.visual_style)
        if self._palette is None or key != self._palette_key:
            self._palette_key = key
            background = self.background_colors[1]
            base = self.visual_style.rich_style
            palette = build_palette(self.app.theme_variables, base, background, self._glyphs)
            palette = replace(
                palette,
                answer_key=named(self, palette.answer_key, Context.SESSION),
                fold_key=named(self, palette.fold_key, Context.TRANSCRIPT),
            )
            if palette != self._palette:
                self._palette = palette
        return self._palette

    def render(self) -> RenderResult:
        return ""

    def render_line(self, y: int) -> Strip:
        # Called only for the row under the mouse, so that painting does not pay for offsets.
        return self.rows(y, y + 1)[0].apply_offsets(0, y)

    def render_lines(self, crop: Region) -> list[Strip]:
        strips = self.rows(crop.y, crop.bottom)
        # A widget that is being removed has no screen.
        if self.is_attached and (selection := self.text_selection):
            style = self.screen.get_component_rich_style("screen--selection")
            spans = (self.selected_span(selection, y, strip) for y, strip in enumerate(strips, crop.y))
            strips = [_painted(strip, span, style) for strip, span in zip(strips, spans, strict=True)]
        if filters := self.get_line_filters():
            background = self.background_colors[1]  # costly: once, not per row
            for line_filter in filters:
                strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return [
            strip if (0, strip.cell_length) == crop.column_span else strip.crop(*crop.column_span)
            for strip in strips
        ]

    def selected_span(self, selection: Selection, y: int, strip: Strip) -> tuple[int, int] | None:
        """Return the selected characters of a row; -1 means its end."""
        return selection.get_span(y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        first = selection.start.y if selection.start else 0
        last = selection.end.y if selection.end else self.size.height - 1
        return self.selected_text(selection, first, last), "\n"

    def selected_text(self, selection: Selection, first: int, last: int) -> str:
        texts = [strip.text for strip in self.rows(first, last + 1)]
        if selection.end and texts:
            texts[-1] = texts[-1][: selection.end.x]
        if selection.start and texts:
            texts[0] = texts[0][selection.start.x :]
        return "\n".join(text.rstrip() for text in texts)


def _painted(strip: Strip, span: tuple[int, int] | None, style: Style) -> Strip:
    if span is None:
        return strip
    end_index = len(strip.text.rstrip()) if span[1] < 0 else span[1]
    start, end = strip.index_to_cell_position(span[0]), strip.index_to_cell_position(end_index)
    if end <= start:
        return strip
    inside = [type(each)(each.text, (each.style or Style()) + style) for each in strip.crop(start, end)]
    return Strip.join([strip.crop(0, start), Strip(inside), strip.crop(end)])


LONG = 20_000
"""Characters: drawing more of them in one go would block the screen."""
MANY_LINES = 300
_FREED = 200
_DRAWING = "drawing..."


class DrawnAtOnce(DrawnLines):
    """Draws all of its rows at once, or in a thread if that takes long. Put it into a scrolling container."""

    _drawn: tuple[Strip, ...] = ()
    _look: tuple[int, Palette] | None = None
    is_drawn = True
    """False while rows are missing, or still have the previous width or theme."""

    class Drawn(Message):
        """What was drawn in a thread is complete."""

    @property
    def is_long(self) -> bool:
        """Whether `draw` has to run in a thread."""
        return False

    @abstractmethod
    def draw(self, width: int, palette: Palette) -> list[Strip]:
        """Draw all rows at exactly this width; called again if the width or the theme changes."""

    def forget(self) -> None:
        """Draw again: the content has changed."""
        self._look = None
        self.refresh(layout=True)

    def rows(self, first: int, last: int) -> list[Strip]:
        width = max(NARROWEST_DRAWING, self.size.width)
        drawn = [_fitted(strip, width) for strip in self._rows(width)[first:last]]
        return drawn + [Strip.blank(width, self.palette.base)] * (last - first - len(drawn))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(max(NARROWEST_DRAWING, width)))

    def _rows(self, width: int) -> tuple[Strip, ...]:
        look = width, self.palette
        if self._look != look:
            self._look = look
            if self.is_long:
                self._begin(*look)
            else:
                self._drawn = tuple(self.draw(*look))
        return self._drawn

    def _begin(self, width: int, palette: Palette) -> None:
        """Draw in a thread. The old rows stay: a scrollbar that comes and goes would never let it end."""
        self.is_drawn = False
        self._drawn = self._drawn or (plain_strip(_DRAWING, width, palette.dim),)
        self.run_worker(self._draw_aside(width, palette), group="draw", exclusive=True)

    async def _draw_aside(self, width: int, palette: Palette) -> None:
        drawn = tuple(await asyncio.to_thread(self.draw, width, palette))
        if self._look == (width, palette):
            drawn, self._drawn, self.is_drawn = self._drawn, drawn, True
            self.refresh(layout=True)
            self.post_message(self.Drawn())
        rows = list(drawn)
        del drawn
        await asyncio.to_thread(_let_go, rows)


def is_long(text: str) -> bool:
    return len(text) > LONG or text.count("\n") > MANY_LINES


def _let_go(rows: list[Strip]) -> None:
    """Free rows a few at a time: freeing a million at once would block the screen from any thread."""
    while rows:
        del rows[-_FREED:]


def _fitted(strip: Strip, width: int) -> Strip:
    return strip if strip.cell_length == width else strip.adjust_cell_length(width)
