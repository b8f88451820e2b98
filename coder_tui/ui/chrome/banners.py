"""Lines around the prompt that appear only if they have something to show."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import strftime
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.chrome.status_bar import short_path
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context, KeyAction, shown

if TYPE_CHECKING:
    from coder_tui.protocol.requests import Request


_QUEUE_ROWS = 3
_REST_ROWS = 3
_LONGEST = 1000
"""Characters that are read to draw one row; a command may have megabytes."""
SHOWN = 1 + _REST_ROWS
"""Requests that are named; the others are only counted."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The first few waiting requests, and the number of all."""

    first: "tuple[Request, ...]" = ()
    count: int = 0

    @property
    def rest(self) -> "Waiting":
        return Waiting(self.first[1:], max(0, self.count - 1))


class QueueLine(Widget):
    """Messages that are queued for the agent's next step."""

    DEFAULT_CSS = """
    QueueLine {
        height: auto; display: none; padding: 0 1; color: $text-dim; text-wrap: nowrap; text-overflow: clip;
    }
    """

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="queue")
        self._chrome = chrome
        self._texts: tuple[str, ...] = ()

    def show(self, texts: tuple[str, ...]) -> None:
        if texts != self._texts:
            self._texts = texts
            self.display = bool(texts)
            self.refresh(layout=True)

    def render(self) -> Content:
        rows = [f"queued  {safe_line(text[:_LONGEST])}" for text in self._texts[:_QUEUE_ROWS]]
        if len(self._texts) > _QUEUE_ROWS:
            rows.append(f"        and {len(self._texts) - _QUEUE_ROWS} more")
        width = self.content_size.width
        return Content("\n".join(cut(row, width, self._chrome.more) for row in rows))


def request_line(request: "Request") -> str:
    """Describe a request in one line: the sub-agent that asks, if any, and what for."""
    words = f"{request.tool} {request.summary}" if request.summary else request.title
    return safe_line((f"{request.agent}: {words}" if request.agent else words)[:_LONGEST])


class RequestCard(Widget):
    """Requests that wait until the user has time for them."""

    DEFAULT_CSS = "RequestCard { height: auto; display: none; padding: 0 1; background: $panel; }"

    class Opened(Message):
        """The card was clicked."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="request")
        self._chrome = chrome
        self._waiting = Waiting()
        self._has_cancelled = False

    def show(self, waiting: Waiting, *, has_cancelled: bool = False) -> None:
        """Show the first few requests; without any the card is hidden, unless questions were canceled."""
        if (waiting, has_cancelled) == (self._waiting, self._has_cancelled):
            return
        self._waiting, self._has_cancelled = waiting, has_cancelled
        self.display = bool(waiting.count) or has_cancelled
        self.refresh(layout=True)

    def render(self) -> Content:
        if not self._waiting.first:
            words = f"{self._chrome.denied} questions cancelled {self._chrome.dot} {self._answer_key} reopen"
            return Content.styled(words if self._has_cancelled else "", "$text-muted")
        tail = f" {self._chrome.dash} waiting for you  {self._answer_key} answer"
        width = self.content_size.width
        room = max(1, width - cell_len(tail))
        first = f"{self._chrome.waiting} {request_line(self._waiting.first[0])}"
        head = Content.styled(cut(first, room, self._chrome.more), "$foreground")
        rows = [head + Content.styled(tail, "bold $text-warning")]
        for line in rest_lines(self._waiting.rest):
            rows.append(Content.styled(cut(f"  {line}", width, self._chrome.more), "$text-muted"))
        return Content("\n").join(rows)

    @property
    def _answer_key(self) -> str:
        return named(self, "F8", Context.SESSION)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return 1 + len(rest_lines(self._waiting.rest))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Opened())


class OtherRequests(Widget):
    """Requests that wait behind the one that is shown."""

    DEFAULT_CSS = "OtherRequests { height: auto; display: none; padding: 0 1; color: $text-muted; }"

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="others")
        self._chrome = chrome
        self._waiting = Waiting()

    def show(self, waiting: Waiting) -> None:
        if waiting != self._waiting:
            self._waiting = waiting
            self.display = bool(waiting.count)
            self.refresh(layout=True)

    def render(self) -> Content:
        lead = "then  "
        rows = []
        for line in rest_lines(self._waiting):
            rows.append(cut(f"{lead}{line}", max(1, self.content_size.width), self._chrome.more))
            lead = " " * len(lead)
        return Content("\n".join(rows))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(rest_lines(self._waiting))


def rest_lines(waiting: Waiting) -> list[str]:
    """Describe the first requests, one per line, and count the others."""
    lines = [request_line(request) for request in waiting.first[:_REST_ROWS]]
    if waiting.count > _REST_ROWS:
        lines.append(f"and {waiting.count - _REST_ROWS} more")
    return lines


class NewBelowPill(Static):
    """Says how many entries arrived below the view."""

    DEFAULT_CSS = """
    NewBelowPill {
        layer: above; dock: bottom; width: auto; height: 1; padding: 0 1; display: none; margin: 0 2;
        background: $primary; color: $background; text-style: bold;
    }
    """

    class Pressed(Message):
        """The pill was clicked."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="new-below", markup=False)
        self._chrome = chrome

    def show(self, count: int) -> None:
        self.display = count > 0
        self.update(Content(f"{self._chrome.down} {count} new below"))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Pressed())


class TooSmall(Static):
    """Covers a screen that is too small to show anything useful; the prompt below still takes keys."""

    DEFAULT_CSS = """
    TooSmall {
        layer: cover; display: none; dock: top; width: 100%; height: 100%; background: $background;
        content-align: center middle; text-align: center; text-wrap: nowrap;
    }
    """
    WIDTH, HEIGHT = 30, 8

    def __init__(self) -> None:
        super().__init__("terminal too small", id="too-small", markup=False)

    @classmethod
    def is_too_small(cls, size: Size) -> bool:
        return size.width < cls.WIDTH or size.height < cls.HEIGHT

    def show_waiting(self, is_waiting: bool) -> None:
        """Say that a request waits: it does not open while it could not be read."""
        self.update(Content("terminal too small" + ("\na request waits" if is_waiting else "")))


MOST_AT_ONCE = 2
SECONDS = 5.0
KEPT = 500


class Hints(Container):
    """The newest notices, at the right above the prompt, and a log of all."""

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
        """All notices with the time of day, the newest last."""
        return "\n".join(self._said)

    def show(self, text: str, seconds: float = SECONDS) -> None:
        """Show a notice; one that is already visible stays longer instead of being repeated."""
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


SAYING = "Describe what you want done. Anything risky waits for your approval."
TYPED = (
    ("explain @README.md", "@ mentions a file"),
    ("/help", "/ runs a command of coder-tui"),
    ("!git status", "! runs a shell command"),
)
KEYS = {
    "session.mode": "next mode: ask, edits, plan",
    "prompt.complete": "browse the conversation",
    "app.palette": "all commands",
    "app.help": "all keys",
}
_GAP = 3


class Welcome(Widget):
    """What an empty session shows: the folder, what can be typed, and the most important keys."""

    DEFAULT_CSS = "Welcome { display: none; height: auto; padding: 1 2; color: $text-muted; }"

    def __init__(self, rows: Iterable[KeyAction]) -> None:
        """`rows` are the keys as the user has configured them."""
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
