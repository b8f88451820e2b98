"""One row above a narrow conversation: what else there is to look at, and the keys for it."""

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.key_names import named
from coder_tui.ui.keys import Context
from coder_tui.ui.panes import PaneName

CHAT = "chat"
_KEYS = "F2 F3 F4 F5"


class PaneTabs(Widget):
    """Hidden while there is nothing but the conversation."""

    DEFAULT_CSS = """
    PaneTabs {
        height: 1; display: none; padding: 0 1; background: $panel; color: $text-muted;
        text-wrap: nowrap; text-overflow: clip;
    }
    """

    class Picked(Message):
        """A tab was clicked; None is the conversation."""

        def __init__(self, pane: PaneName | None) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="tabs")
        self._between = f" {chrome.edge} "
        self._to = chrome.to
        self._counts: tuple[tuple[PaneName, str], ...] = ()
        self._front: PaneName | None = None

    def show(self, counts: tuple[tuple[PaneName, str], ...], front: PaneName | None) -> None:
        """The panes that have something, each with its count; none hides the row."""
        if (counts, front) == (self._counts, self._front):
            return
        self._counts, self._front = counts, front
        if self.display != bool(counts):
            self.display = bool(counts)
        self.refresh()

    def _labels(self, width: int) -> list[tuple[PaneName | None, str]]:
        """In full where there is room, else with shorter names, else with numbers alone."""
        for letters in (None, 4, 0):
            labels = [(name, f"{name[:letters]} {count}".strip()) for name, count in self._counts]
            row: list[tuple[PaneName | None, str]] = [(None, CHAT), *labels]
            if cell_len(self._between.join(label for _, label in row)) <= width:
                break
        return row

    def render(self) -> Content:
        parts: list[tuple[str, str]] = []
        for name, label in self._labels(self.content_size.width):
            if parts:
                parts.append((self._between, ""))
            parts.append((label, "bold underline $text-primary" if name is self._front else "$foreground"))
        hint = self._hint()
        room = self.content_size.width - sum(cell_len(text) for text, _ in parts) - cell_len(hint)
        if room >= 2:
            parts.append((" " * room + hint, "$text-dim"))
        return Content.assemble(*parts)

    def _hint(self) -> str:
        keys = named(self, _KEYS, Context.SESSION)
        return f"F2{self._to}F5 switch" if keys == _KEYS else f"{keys} switch"

    def on_click(self, event: events.Click) -> None:
        event.stop()
        column = event.x - self.gutter.left
        for name, label in self._labels(self.content_size.width):
            if 0 <= column < cell_len(label):
                self.post_message(self.Picked(name))
            column -= cell_len(label) + cell_len(self._between)
