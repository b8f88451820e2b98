"""A transcript alone on a screen, and ways to look at it."""

import unicodedata
from collections.abc import Callable

from rich.style import Style
from textual.app import App, ComposeResult
from textual.color import Color
from textual.geometry import Size
from textual.layout import DockArrangeResult
from textual.pilot import Pilot
from textual.strip import Strip

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.events import ToolFinished
from coder_tui.protocol.outcomes import Outcome
from coder_tui.ui.draw.palette import Palette, build_palette
from coder_tui.ui.transcript.scroll import FollowingScroll
from coder_tui.ui.transcript.transcript import Transcript

VARIABLES = {"syntax-keyword": "#ff0000", "diff-add-bg": "#002200", "text-dim": "#888888"}
PALETTE: Palette = build_palette(VARIABLES, Style.parse("white on black"), Color.parse("black"))


class TranscriptApp(App[None]):
    def __init__(self, transcript: Transcript | None = None) -> None:
        super().__init__()
        self.transcript = transcript or Transcript()
        self.news: list[int] = []

    def compose(self) -> ComposeResult:
        yield self.transcript.view

    def on_transcript_new_below(self, message: FollowingScroll.NewBelow) -> None:
        self.news.append(message.count)


def count_layouts(transcript: Transcript) -> Callable[[], int]:
    """Count the layouts of its view from now on."""
    layouts: list[Size] = []
    arrange = transcript.view.arrange

    def counted(size: Size, optimal: bool = False) -> DockArrangeResult:
        layouts.append(size)
        return arrange(size, optimal)

    vars(transcript.view)["arrange"] = counted
    return lambda: len(layouts)


def texts(strips: list[Strip]) -> list[str]:
    return [strip.text.rstrip() for strip in strips]


def screen_rows(app: App[None]) -> list[str]:
    """What the terminal shows, row by row, blank ends cut."""
    region = app.screen.size.region
    rows = [app.screen._compositor.render_strips(region.size)[y].text for y in range(region.height)]
    return [row.rstrip() for row in rows]


def filled_rows(app: App[None]) -> list[str]:
    return [row for row in screen_rows(app) if row]


async def drawn(pilot: Pilot[None]) -> None:
    """Wait until nothing is left to draw."""
    app = pilot.app
    assert isinstance(app, TranscriptApp)
    await pilot.pause()
    while app.transcript.tail.pacer.is_pending or app.transcript.calls.is_drawing:
        await pilot.pause()
    await pilot.pause()


def unsafe_characters(text: str) -> set[str]:
    return {char for char in text if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}


def finish(transcript: Transcript, call_id: str, outcome: Outcome = Outcome.OK, text: str = "") -> None:
    transcript.finish_tool(ToolFinished(call_id, "read", outcome, call_id, TextBlock(text), 0))


def fill(transcript: Transcript, count: int) -> None:
    with transcript.history.adding_many():
        for number in range(count):
            transcript.add_user(f"m{number}", f"message {number}")
