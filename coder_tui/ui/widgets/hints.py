"""Short words that go away by themselves, but for a log: never over the prompt."""

from collections import deque
from functools import partial
from time import strftime

from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

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
