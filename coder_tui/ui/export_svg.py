"""Pictures of a stored session: the real transcript, drawn by the real widgets, page by page."""

import asyncio
import re

from textual.pilot import Pilot

from coder_tui.agent.undo.replay import Step
from coder_tui.ui.launch import Launch
from coder_tui.ui.replay import ReplayApp

COLUMNS, ROWS = 100, 50
MOST_PAGES = 500
# Whoever opens a picture must not tell another host of it: the fonts of this machine do.
_FONT_ADDRESS = re.compile(r',?\s*url\("https?://[^")]*"\)\s*format\("[^"]*"\)')


class PictureApp(ReplayApp):
    """Shows everything at once, and says when it does."""

    def __init__(self, launch: Launch, steps: tuple[Step, ...]) -> None:
        super().__init__(launch, steps)
        self.is_ready = asyncio.Event()

    async def _painted(self) -> None:
        screen = self.replay_screen
        await screen.furnish()
        screen.show_all()
        self.is_ready.set()


async def pictures(
    launch: Launch, steps: tuple[Step, ...], columns: int = COLUMNS, rows: int = ROWS
) -> tuple[str, ...]:
    """One SVG a page, from the beginning to the end; a very long session is cut at its end."""
    app, pages = PictureApp(launch, steps), list[str]()
    async with app.run_test(size=(columns, rows)) as pilot:
        await app.is_ready.wait()
        transcript = app.replay_screen.transcript
        await _drawn(pilot)
        transcript.scroll_home(animate=False, immediate=True)
        while len(pages) < MOST_PAGES:
            await _drawn(pilot)
            top = transcript.scroll_offset.y
            pages.append(_local(app.export_screenshot(title=f"coder-tui {len(pages) + 1}")))
            if top >= transcript.max_scroll_y:
                break
            transcript.scroll_to(y=top + transcript.size.height, animate=False, immediate=True)
    return tuple(pages)


async def _drawn(pilot: Pilot[int]) -> None:
    """Twice: what comes into sight for the first time may turn out to be of another height."""
    await pilot.pause()
    await pilot.pause()


def _local(svg: str) -> str:
    return _FONT_ADDRESS.sub("", svg)
