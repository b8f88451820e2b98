"""Short words that go away by themselves, but for a log: never over the prompt.

What an empty session says: where one is, what can be typed, and the few keys that lead to all others.
"""

from collections import deque
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from time import strftime

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.chrome.status_bar import short_path
from coder_tui.ui.keys import KeyAction, shown

MOST_AT_ONCE = 2
SECONDS = 5.0
KEPT = 500


class Hints(Container):
    """The newest few, at the right above the composer."""

    DEFAULT_CSS = """
    Hints {
        layer: above; dock: bottom; width: 1fr; height: auto; align: right bottom;
        display: none; visibility: hidden;
        Static {
            visibility: visible; width: auto; max-width: 60; height: auto; padding: 0 1;
            background: $panel; color: $foreground;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__(id="hints")
        self._lines = Static(id="hint", markup=False)
        self._texts: dict[int, str] = {}
        self._count = 0
        self._said: deque[str] = deque(maxlen=KEPT)

    def compose(self) -> ComposeResult:
        yield self._lines

    @property
    def said(self) -> str:
        """All that was shown, with the time of day; the newest last."""
        return "\n".join(self._said)

    def show(self, text: str, seconds: float = SECONDS) -> None:
        """The same words again stay for another while instead of piling up."""
        self._count += 1
        self._said.append(f"{strftime('%H:%M:%S')}  {text}")
        others = {number: each for number, each in self._texts.items() if each != text}
        self._texts = dict([*others.items(), (self._count, text)][-MOST_AT_ONCE:])
        self.set_timer(seconds, partial(self._drop, self._count))
        self._draw()

    def _drop(self, number: int) -> None:
        self._texts.pop(number, None)
        self._draw()

    def _draw(self) -> None:
        self.display = bool(self._texts)
        self._lines.update(Content("\n".join(self._texts.values())))


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
