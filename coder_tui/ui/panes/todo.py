"""The agent's todo list next to the conversation."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Region, Size
from textual.widget import Widget

from coder_tui.protocol.todos import TodoItem, TodoStatus
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.strips import broken, cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.panes.names import PaneName
from coder_tui.ui.panes.pane import Pane

_LONGEST = 300
"""Cells of an item that are shown; the call that wrote it shows all of it."""
_MANY, _SHORT = 50, 80
"""With this many items, fewer cells of each are shown: drawing all of them would block the screen."""
_MOST = 200
"""Items that are drawn."""
HINTS = (("F4", "hide"), ("Esc", "prompt"))
_STYLE = {
    TodoStatus.COMPLETED: "$text-dim",
    TodoStatus.IN_PROGRESS: "bold $text-primary",
    TodoStatus.PENDING: "$foreground",
}


class TodoLines(Widget):
    """The items with hanging indents."""

    DEFAULT_CSS = "TodoLines { height: auto; width: 1fr; padding: 0 1; }"

    def __init__(self, chrome: Chrome) -> None:
        super().__init__()
        self.items: tuple[TodoItem, ...] = ()
        self._more = chrome.more
        self._wrapped: dict[int, list[list[Content]]] = {}
        """The lines of each item, by width."""
        self._glyphs = {
            TodoStatus.COMPLETED: chrome.ok,
            TodoStatus.IN_PROGRESS: chrome.running,
            TodoStatus.PENDING: chrome.pending,
        }

    def set_items(self, items: tuple[TodoItem, ...]) -> None:
        self.items = items
        self._wrapped.clear()
        self.refresh(layout=True)

    def render(self) -> Content:
        return Content("\n").join([line for lines in self._at(self.content_size.width) for line in lines])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.rows_at(width)

    def rows_at(self, width: int) -> int:
        return sum(len(lines) for lines in self._at(width))

    def active_rows(self) -> Region | None:
        """Return the rows of the item in progress, else of the first pending one."""
        wanted = next((item for item in self.items if item.status is TodoStatus.IN_PROGRESS), None)
        wanted = wanted or next((item for item in self.items if item.status is TodoStatus.PENDING), None)
        row = 0
        for item, lines in zip(self.items, self._at(self.content_size.width), strict=False):
            if item is wanted:
                return Region(0, row, 1, len(lines))
            row += len(lines)
        return None

    def _at(self, width: int) -> list[list[Content]]:
        if width not in self._wrapped:
            shown = self.items[:_MOST]
            self._wrapped = {width: [self._lines(item, width) for item in shown]}
            if len(self.items) > _MOST:
                self._wrapped[width].append(
                    [Content.styled(f"  and {len(self.items) - _MOST} more", "$text-dim")]
                )
        return self._wrapped[width]

    def _lines(self, item: TodoItem, width: int) -> list[Content]:
        style = _STYLE[item.status]
        longest = _SHORT if len(self.items) > _MANY else _LONGEST
        words = safe_line(cut(item.content[: longest + 1], longest, self._more))
        wrapped = [piece.rstrip() for piece in broken(words, width - 2)]
        leads = [f"{self._glyphs[item.status]} ", *["  "] * len(wrapped)]
        return [Content.styled(lead + line, style) for lead, line in zip(leads, wrapped, strict=False)]


class TodoScroll(VerticalScroll):
    """Keeps the item in progress in view."""

    DEFAULT_CSS = "TodoScroll { height: 1fr; scrollbar-size-vertical: 1; }"

    def on_resize(self) -> None:
        self.show_active()

    def show_active(self) -> None:
        lines = self.query_one(TodoLines)
        if (rows := lines.active_rows()) is not None:
            self.scroll_to_region(rows.grow((1, 0, 1, 0)), animate=False, force=True)


class TodoPane(Pane):
    """Hides automatically once everything is done; the count still says so."""

    name_of_pane = PaneName.TODOS

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(HINTS, chrome, id="todos")
        self._lines = TodoLines(chrome)
        self.target = self._scroll = TodoScroll()

    def compose(self) -> ComposeResult:
        with self._scroll:
            yield self._lines
        yield self.line

    @property
    def items(self) -> tuple[TodoItem, ...]:
        return self._lines.items

    @property
    def count(self) -> str:
        """Done and all items as `1/3`, empty if there is no list."""
        done = sum(item.status is TodoStatus.COMPLETED for item in self.items)
        return f"{done}/{len(self.items)}" if self.items else ""

    @property
    def wants_showing(self) -> bool:
        return any(item.status is not TodoStatus.COMPLETED for item in self.items)

    def rows_wanted(self, width: int) -> int:
        return self._lines.rows_at(width - self._lines.gutter.width)

    def set_items(self, items: tuple[TodoItem, ...]) -> None:
        self._lines.set_items(items)
        self.retitle()
        self.call_after_refresh(self._scroll.show_active)
