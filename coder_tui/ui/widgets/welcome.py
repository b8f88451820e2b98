"""What an empty session says: where one is, what can be typed, and the few keys that lead to all others."""

from collections.abc import Iterable
from pathlib import Path

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.keys import KeyAction, shown
from coder_tui.ui.widgets.status_bar import short_path

SAYING = "Say what you want to have done. Whatever could do harm waits for your key."
TYPED = (
    ("explain @README.md", "@ names a file for the agent"),
    ("/help", "/ is a command of the program"),
    ("!git status", "! is a shell command of yours"),
)
KEYS = {
    "session.mode": "next mode: ask, edits, plan",
    "prompt.complete": "browse what was said",
    "app.palette": "everything that can be done",
    "app.help": "all keys",
}
_GAP = 3


class Welcome(Widget):
    """Stands above the conversation until that begins."""

    DEFAULT_CSS = "Welcome { display: none; height: auto; padding: 1 2; color: $text-muted; }"

    def __init__(self, rows: Iterable[KeyAction]) -> None:
        """`rows` are the keys as the person has them."""
        super().__init__(id="welcome")
        keys = {row.id: shown(row.keys) for row in rows}
        self._keys = [(keys[name], words) for name, words in KEYS.items()]
        self._place = ""

    def show(self, directory: Path) -> None:
        self._place = safe_line(short_path(directory))
        self.display = True
        self.refresh(layout=True)

    def hide(self) -> None:
        self.display = False

    def render(self) -> Content:
        width = max(cell_len(left) for left, _ in (*TYPED, *self._keys)) + _GAP
        rows = [Content.assemble(("coder-tui", "bold $text-primary"), f"  {self._place}"), Content(SAYING)]
        rows += [Content(), *(_row(left, right, width) for left, right in TYPED)]
        rows += [Content(), *(_row(left, right, width) for left, right in self._keys)]
        return Content("\n").join([rows[0], Content(), *rows[1:]])


def _row(left: str, right: str, width: int) -> Content:
    return Content.assemble((left, "bold $text-accent"), " " * (width - cell_len(left)), right)
