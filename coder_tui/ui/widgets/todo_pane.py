"""The agent's todo list beside the conversation."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.protocol.todos import TodoItem, TodoStatus
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome

_STYLE = {
    TodoStatus.COMPLETED: "$text-dim",
    TodoStatus.IN_PROGRESS: "bold $text-primary",
    TodoStatus.PENDING: "$foreground",
}


class TodoLines(Widget):
    """The items with hanging indents."""

    DEFAULT_CSS = "TodoLines { height: auto; width: 1fr; }"

    def __init__(self, chrome: Chrome) -> None:
        super().__init__()
        self.items: tuple[TodoItem, ...] = ()
        self._glyphs = {
            TodoStatus.COMPLETED: chrome.ok,
            TodoStatus.IN_PROGRESS: chrome.running,
            TodoStatus.PENDING: chrome.pending,
        }

    def set_items(self, items: tuple[TodoItem, ...]) -> None:
        self.items = items
        self.refresh(layout=True)

    def render(self) -> Content:
        return Content("\n").join(self._lines(self.content_size.width))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._lines(width))

    def _lines(self, width: int) -> list[Content]:
        lines: list[Content] = []
        for item in self.items:
            style = _STYLE[item.status]
            wrapped = Content.styled(safe_line(item.content), style).wrap(max(1, width - 2))
            first = Content.styled(f"{self._glyphs[item.status]} ", style)
            lines += [(first if row == 0 else Content("  ")) + line for row, line in enumerate(wrapped)]
        return lines


class TodoPane(VerticalScroll, can_focus=False):
    """Shows itself where there is room and something to do, unless the person chose otherwise."""

    DEFAULT_CSS = """
    TodoPane {
        width: 42; height: 1fr; display: none; padding: 0 1; background: $background;
        border-left: vkey $border-blurred; scrollbar-size-vertical: 1;
        #todo-title { color: $text-accent; text-style: bold; height: 1; }
    }
    """

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="todos")
        self._title = Static("todo", id="todo-title", markup=False)
        self._lines = TodoLines(chrome)
        self._is_wide = False
        self._choice: bool | None = None

    def compose(self) -> ComposeResult:
        yield self._title
        yield self._lines

    @property
    def items(self) -> tuple[TodoItem, ...]:
        return self._lines.items

    @property
    def count(self) -> str:
        """`1/3`, or nothing when there is no list."""
        done = sum(item.status is TodoStatus.COMPLETED for item in self.items)
        return f"{done}/{len(self.items)}" if self.items else ""

    def set_items(self, items: tuple[TodoItem, ...]) -> None:
        self._lines.set_items(items)
        self._title.update(Content(f"todo {self.count}"))
        self._place()

    def set_wide(self, is_wide: bool) -> None:
        self._is_wide = is_wide
        self._place()

    def toggle(self) -> None:
        self._choice = not self.display
        self._place()

    def _place(self) -> None:
        has_work = any(item.status is not TodoStatus.COMPLETED for item in self.items)
        by_itself = self._is_wide and has_work
        is_shown = bool(self.items) and (by_itself if self._choice is None else self._choice)
        if is_shown != self.display:  # setting it lays the screen out anew, whatever it was
            self.display = is_shown
