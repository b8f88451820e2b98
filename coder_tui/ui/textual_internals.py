"""All use of Textual's private API, in one place because a release of Textual may change any of it.

`IS_KNOWN` is False for an untested Textual: then every trick gives way to the public API.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import textual
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events, screen
from textual._compositor import Compositor
from textual._spatial_map import SpatialMap
from textual._styles_cache import StylesCache
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region, Size
from textual.layout import DockArrangeResult, WidgetPlacement
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

# By the name of its installed metadata: asking importlib.metadata costs 25 ms before the first paint.
IS_KNOWN = any(Path(textual.__file__).parents[1].glob("textual-8.2.*.dist-info"))

# Not a Widget at run time: Textual takes CSS and bindings from the first DOM base only.
if TYPE_CHECKING:
    _Mixin = Widget
    _AppMixin = App[int]
    _TextMixin = TextArea
else:
    _Mixin = _AppMixin = _TextMixin = object

_T = TypeVar("_T")


class NoStylesCache(StylesCache):
    """For widgets that cache strips themselves: the stock one makes a set of all rows at each change."""

    def set_dirty(self, *regions: Region) -> None:
        """Nothing is cached here, so nothing gets stale."""

    def clear(self) -> None:
        """Nothing is cached here."""


def drop_styles_cache(widget: Widget) -> None:
    if IS_KNOWN:
        widget._styles_cache = NoStylesCache()


class ParsedOnce(Stylesheet):
    """The stock sheet parses everything again for each theme: at the start, everything twice."""

    def reparse(self) -> None:
        if IS_KNOWN:
            self.parse()
        else:
            super().reparse()


class LaysOutOnce(_Mixin):
    """`virtual_size` is a layout reactive: a new size would lay out and paint everything twice."""

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=layout and not IS_KNOWN)


class QuickPasteParser(XTermParser):
    """Takes pasted text by the piece: the stock parser looks at each character, 1.2 s a megabyte.

    Where a start mark comes in two pieces, the stock parser has the first already and takes that paste.
    """

    _START: ClassVar[str] = "\x1b[200~"
    _END: ClassVar[str] = "\x1b[201~"

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        self._is_stock_pasting = False
        self._recent = ""
        """The last few characters before the present ones."""

    def feed(self, data: str) -> Iterable[Message]:
        while data:
            if self._pasted is not None:
                text, data = self._paste(data)
                if text is not None:
                    yield events.Paste(text.replace("\x00", ""))
            else:
                count = self._plain(data)
                if count:
                    yield from super().feed(data[:count])
                data = data[count:] if self._pasted is None else data[count + len(self._START) :]

    def _paste(self, data: str) -> tuple[str | None, str]:
        """Return the pasted text once it is complete, and what follows it."""
        inside, end, rest = (self._recent + data).partition(self._END)
        pieces = self._pasted if self._pasted is not None else []
        kept = len(inside) if end else max(0, len(inside) - len(self._END) + 1)
        pieces.append(inside[:kept])
        self._recent = inside[kept:]
        if not end:
            return None, ""
        self._pasted = None
        return "".join(pieces), rest

    def _plain(self, data: str) -> int:
        """Return how many characters are for the stock parser; a paste begins after or within them."""
        before, joined = len(self._recent), self._recent + data
        at = joined.find(self._END if self._is_stock_pasting else self._START)
        if at < 0:
            self._recent = joined[1 - len(self._START) :]
            return len(data)
        self._recent = ""
        if self._is_stock_pasting or at < before:
            self._is_stock_pasting = not self._is_stock_pasting
            return at + len(self._START) - before
        self._pasted = []
        return at - before


def take_pastes_quickly() -> None:
    """Install the parser; call it before the app runs, because its driver creates the parser."""
    if IS_KNOWN:
        # Loaded by the app for a real terminal, and for that alone.
        from textual.drivers import linux_driver

        vars(linux_driver)["XTermParser"] = QuickPasteParser


class FewPlacements(SpatialMap[WidgetPlacement]):
    """Stands in for the grid of SpatialMap, which has an entry per 20 rows: 8 ms a layout at 250,000 rows."""

    def __init__(self, placements: list[WidgetPlacement]) -> None:
        super().__init__()
        self._placements = placements
        regions = [
            placement.region.grow(placement.margin) for placement in placements if not placement.overlay
        ]
        self.total_region = Region.from_union(regions) if regions else Region()

    def get_values_in_region(self, region: Region) -> list[WidgetPlacement]:
        return self._placements


def without_grid(result: DockArrangeResult) -> DockArrangeResult:
    """Give an arrangement of a few very tall widgets a map that costs nothing to build."""
    if IS_KNOWN and result._spatial_map is None:
        result._spatial_map = FewPlacements(result.placements)
    return result


_GRAB = {"@mouse.down": "grab"}


@lru_cache(8)
def _bar_strips(thumb: Color, track: Color) -> tuple[Strip, Strip, Strip]:
    def cell(color: Color, meta: dict[str, Any]) -> Strip:
        return Strip([Segment(" ", Style(bgcolor=color, meta=meta))], 1)

    return (
        cell(thumb, _GRAB),
        cell(track, {"@mouse.down": "scroll_up"}),
        cell(track, {"@mouse.down": "scroll_down"}),
    )


class PlainScrollBar(ScrollBar):
    """The stock bar redraws all its rows whenever the content grows; three strips are enough."""

    def render_lines(self, crop: Region) -> list[Strip]:
        parent = self.parent
        if not isinstance(parent, Widget):
            return super().render_lines(crop)
        styles, rows, total = parent.styles, self.size.height, max(1, self.window_virtual_size)
        is_hot = self.mouse_over or self.grabbed is not None
        color = styles.scrollbar_color_hover if is_hot else styles.scrollbar_color
        back = parent.background_colors[0] + styles.scrollbar_background
        thumb, above, below = _bar_strips((back + color).rich_color, back.rich_color)
        size = max(1, round(rows * min(1.0, self.window_size / total)))
        room = max(1, total - self.window_size)
        first = round((rows - size) * min(1.0, max(0.0, self.position / room)))
        strips = [above if y < first else thumb if y < first + size else below for y in crop.line_range]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, back) for strip in strips]
        return strips


class WholeCells(ScrollBarRender):
    """Bars of blank cells: parts of a cell are signs that a plain terminal cannot draw."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "]
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "]


ScrollBar.renderer = WholeCells


class ScrollsAtOnce(LaysOutOnce):
    """A scrollable widget with the plain scroll bar and without animated scrolling.

    An animation would fight with rows that move while heights turn from estimates into exact ones.
    """

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        if IS_KNOWN and self._vertical_scrollbar is None:
            bar = PlainScrollBar(vertical=True, name="vertical", thickness=1)
            self._vertical_scrollbar = bar
            bar.display = False
            self.app._start_widget(self, bar)
        return super().vertical_scrollbar

    def _scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> bool:
        if IS_KNOWN:
            options["animate"] = False
        return super()._scroll_to(x, y, **options)

    def place_scroll(self, row: int) -> None:
        """Move the view within a layout, where a watcher would ask for another one."""
        self.set_reactive(Widget.scroll_y, row)
        self.set_reactive(Widget.scroll_target_y, row)
        self.vertical_scrollbar.set_reactive(ScrollBar.position, row)


class UndoesOneByOne(_TextMixin):
    """A text area that wraps lines again after each edit of an undo or redo.

    The stock one does it once for all of them, and may keep rows of lines that are gone.
    """

    def _undo_batch(self, edits: Sequence[Any]) -> None:
        for edit in reversed(edits):
            super()._undo_batch([edit])

    def _redo_batch(self, edits: Sequence[Any]) -> None:
        for edit in edits:
            super()._redo_batch([edit])


def write_to_terminal(app: App[Any], sequence: str) -> None:
    """Write what no widget draws, but never within a frame: a title, a notification, the clipboard."""
    driver = app._driver
    if driver is not None and not app.is_headless:
        driver.write(sequence)
        driver.flush()


def turn_mouse(app: App[Any]) -> bool:
    """Give the mouse to the terminal, or reclaim it; return whether the program has it now."""
    from textual.drivers.linux_driver import LinuxDriver  # the one that draws, where there is a terminal

    driver = app._driver
    if not isinstance(driver, LinuxDriver):
        return False
    # Both look at the flag, which also decides about it after a suspension.
    if driver._mouse:
        driver._disable_mouse_support()
        driver._mouse = False
    else:
        driver._mouse = True
        driver._enable_mouse_support()
    driver.flush()
    return driver._mouse


def replace_screen(app: App[Any], new: Screen[Any]) -> Awaitable[object]:
    """Put a screen in the place of the present one, which may be the first.

    `switch_screen` takes a callback from every screen that it removes, but the first one was given none.
    """
    shown: Awaitable[object]
    if IS_KNOWN:
        if not app.screen._result_callbacks:
            app.screen._push_result_callback(app.screen, None)
        shown = app.switch_screen(new)
    else:
        shown = app.push_screen(new)
    return shown


def keep_for_pasting(app: App[Any], text: str) -> None:
    """Set the clipboard of this program's text fields; the public way also sends it to the terminal."""
    app._clipboard = text


def forget_arrangements(widget: Widget) -> None:
    """Sizes are cached by the room there was; rows wrapped at another width in between make them wrong."""
    widget._clear_arrangement_cache()
    for child in widget.children:
        child._box_model_cache.clear()


def placed_rows(placements: Iterable[WidgetPlacement]) -> int:
    """Return how many rows an arrangement fills."""
    return max((placement.region.bottom for placement in placements), default=0)


def changed_keys(app: App[Any]) -> Mapping[str, str]:
    """Return the keys that the user changed, by the id of the binding."""
    return app._keymap if IS_KNOWN else {}


class OutlivesErrors(_AppMixin):
    """An app that goes on after an error in a widget, handler, timer, worker or drawing.

    Textual ends the app at any of them, by `_handle_exception`. A message queue and a frame also end
    with the error, so those are guarded below.
    """

    @abstractmethod
    def outlives(self, error: Exception) -> bool:
        """Report an error that the program goes on after; False if it has to end."""

    def _handle_exception(self, error: Exception) -> None:
        if not is_outlived(self, error):
            self._exception = None  # this is the one that counts
            super()._handle_exception(error)
        # A layout that failed leaves its widgets here, and they could not ask for another one.
        for each in self.screen_stack:
            each._layout_widgets.clear()


def is_outlived(app: App[Any], error: Exception) -> bool:
    """Report an error; False if it has to be raised."""
    # Without a first paint there is nothing to go on with.
    if not (IS_KNOWN and isinstance(app, OutlivesErrors) and app._dom_ready and app.outlives(error)):
        return False
    # Textual raises it at the end of a headless run, so that a test does not miss it.
    app._exception = app._exception or error
    return True


def guarded(app: App[Any], listener: Callable[[_T], None]) -> Callable[[_T], None]:
    """Keep errors of the screen from the caller, which may be a turn."""

    def call(event: _T) -> None:
        try:
            listener(event)
        except Exception as error:
            if not is_outlived(app, error):
                raise

    return call


class GuardedCompositor(Compositor):
    """Draws a line in place of a widget that cannot be drawn; the stock one would draw nothing at all."""

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            if seen and (not crop or crop.overlaps(clip)):
                yield region, clip, self._rows(widget, seen.translate(-region.offset))

    def _rows(self, widget: Widget, part: Region) -> list[Strip]:
        try:
            return widget.render_lines(part)
        except Exception as error:
            if not is_outlived(widget.app, error):
                raise
            line = f"This part cannot be drawn: {type(error).__name__}"
            style = widget.screen.rich_style
            rows = [Strip([Segment(line if y == 0 else "", style)]) for y in part.line_range]
            return [row.adjust_cell_length(part.width, style) for row in rows]


_dispatch = MessagePump._dispatch_message


async def _dispatch_guarded(pump: MessagePump, message: Message) -> None:
    """Lose one message to an error in its handler: the stock loop would read no other after it."""
    try:
        await _dispatch(pump, message)
    except Exception as error:
        if not is_outlived(pump.app, error):
            raise


if IS_KNOWN:
    setattr(MessagePump, _dispatch.__name__, _dispatch_guarded)
    vars(screen)["Compositor"] = GuardedCompositor
