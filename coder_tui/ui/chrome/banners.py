"""Single lines around the prompt that appear only when they have something to say."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from coder_tui.text.safe_text import safe_line
from coder_tui.ui.draw.strips import cut
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keymap import named
from coder_tui.ui.keys import Context

if TYPE_CHECKING:
    from coder_tui.protocol.requests import Request


_QUEUE_ROWS = 3
_REST_ROWS = 3
_LONGEST = 1000
"""Characters, of which one row shows a part; a command may have megabytes."""
SHOWN = 1 + _REST_ROWS
"""Requests that are named where all of them wait."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The first few requests that wait, and how many there are."""

    first: "tuple[Request, ...]" = ()
    count: int = 0

    @property
    def rest(self) -> "Waiting":
        return Waiting(self.first[1:], max(0, self.count - 1))


class QueueLine(Widget):
    """Messages that wait for the agent's next step."""

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
    """A request in one line: who asks, where that is not the main agent, and for what."""
    words = f"{request.tool} {request.summary}" if request.summary else request.title
    return safe_line((f"{request.agent}: {words}" if request.agent else words)[:_LONGEST])


class RequestCard(Widget):
    """Requests that wait until the person has time for them."""

    DEFAULT_CSS = "RequestCard { height: auto; display: none; padding: 0 1; background: $panel; }"

    class Opened(Message):
        """The card was clicked."""

    def __init__(self, chrome: Chrome) -> None:
        super().__init__(id="request")
        self._chrome = chrome
        self._waiting = Waiting()
        self._has_cancelled = False

    def show(self, waiting: Waiting, *, has_cancelled: bool = False) -> None:
        """A row each, up to a few; none hides the card, unless questions were cancelled."""
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
    """What waits behind the request that is shown."""

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
    """A line each, and the number of those for which there is no room."""
    lines = [request_line(request) for request in waiting.first[:_REST_ROWS]]
    if waiting.count > _REST_ROWS:
        lines.append(f"and {waiting.count - _REST_ROWS} more")
    return lines


class NewBelowPill(Static):
    """Says how much arrived below while the reader was further up."""

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
    """Covers a screen that has no room to show anything sensible; the prompt below still takes keys."""

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
        """A request does not open where it could not be read."""
        self.update(Content("terminal too small" + ("\na request waits" if is_waiting else "")))
