"""Make the pictures of README and docs: play the built-in demo on the real screen and draw what it shows.

uv run python -m bench.pictures [--into docs/pictures]
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from textual.pilot import Pilot

from coder_tui.bootstrap.session_library import SessionOpener
from coder_tui.cli.arguments import demo_parser, read_invocation
from coder_tui.ui.app import CoderApp
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.launch import Launch
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.review.screen import ReviewScreen
from tests.fakes.drawn_svg import svg

WIDE, MEDIUM, NARROW = (140, 40), (110, 32), (80, 24)
PATIENCE = 60.0
LARGEST = 150_000
HOME = Path(tempfile.gettempdir()) / "you"
"""A folder that reveals nothing about the machine, because some output names it."""


class Play:
    """The app while it runs, and where its pictures go."""

    def __init__(self, app: CoderApp, pilot: Pilot[int], into: Path) -> None:
        self.app = app
        self._pilot = pilot
        self._into = into

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await self._pilot.pause(0.02)

    async def press(self, *keys: str) -> None:
        await self._pilot.press(*keys)

    async def asked(self, words: str) -> None:
        """Wait until a dialog with these words takes answers."""
        await self.until(lambda: isinstance(self.app.screen, ApprovalScreen) and self.app.screen.is_ready)
        await self.until(lambda: words in self.drawn)

    @property
    def drawn(self) -> str:
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    async def take(self, name: str, size: tuple[int, int]) -> None:
        await self._pilot.resize_terminal(*size)
        await self._pilot.pause(0.5)
        await self.until(
            lambda: not any(view.coloring.is_running for view in self.app.screen.query(DiffView))
        )
        text = svg(self.app.screen._compositor.render_strips())
        if len(text) > LARGEST:
            raise SystemExit(f"{name} has {len(text)} bytes, more than a page should load")
        (self._into / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"{name}.svg  {len(text) / 1000:.0f} kB")


async def perform(play: Play) -> None:
    screen = play.app.session_screen
    await play.until(lambda: screen.is_fully_mounted and screen.widgets.sender.session is not None)
    await play.take("welcome", NARROW)
    await play.press(*"fix the discount", "enter")
    await play.asked("unittest")
    await play.take("command", MEDIUM)
    await play.press("ctrl+y")
    await play.asked("cart.py")
    await play.take("edit", MEDIUM)
    await play.press("ctrl+y")
    await play.asked("unittest")
    await play.press("ctrl+y")
    await play.until(lambda: not screen.widgets.sender.is_busy and play.app.screen is screen)
    await play.take("session", WIDE)
    screen.body.open_review()
    await play.until(lambda: isinstance(play.app.screen, ReviewScreen) and play.app.screen.is_loaded)
    await play.press("c", *"say from which number on", "enter")
    await play.take("review", NARROW)
    await play.press("escape")
    play.app.theme = "coder-light"
    await play.press("ctrl+p")
    await play.take("palette", MEDIUM)


async def record(into: Path) -> None:
    core = SessionOpener(read_invocation(demo_parser().parse_args([])), is_demo=True)
    launch = Launch(HOME, "coder-dark", False, core.open, clean_up=core.clean_up, has_motion=False)
    app = CoderApp(launch)
    async with app.run_test(size=WIDE) as pilot:
        await perform(Play(app, pilot, into))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("docs/pictures"))
    into: Path = parser.parse_args().into.resolve()
    into.mkdir(parents=True, exist_ok=True)
    HOME.mkdir()
    try:
        os.environ["HOME"] = str(HOME)
        for kind in ("DATA", "CONFIG", "CACHE"):
            os.environ[f"CODER_TUI_{kind}_DIR"] = str(HOME / f".{kind.lower()}")
        with patch("coder_tui.bootstrap.open_session.tempfile.mkdtemp", lambda **_: str(HOME)):
            asyncio.run(record(into))
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
