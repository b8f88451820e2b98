"""Replays a stored session on the real screen: no message can be sent, and nothing runs."""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import suppress

from textual import events
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from coder_tui.agent.undo.replay import Step
from coder_tui.ui.app import CoderApp
from coder_tui.ui.exit import AppExit
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Launch
from coder_tui.ui.session.screen import SessionScreen
from coder_tui.ui.session_switch import SessionSwitch

KEYS = "Space pauses, Right next step, End all, Esc leaves"

HARMLESS = frozenset({"app.repaint", "app.suspend"})
"""Other keys of the program that work here."""


class Playback:
    """Plays steps at a speed; can be paused, and skip ahead. `show` gets each moment as it comes."""

    def __init__(self, steps: tuple[Step, ...], speed: float, show: Callable[[Step], None]) -> None:
        self.steps = steps
        self._speed = speed
        self._show = show
        self.number = 0
        """The current step, from 0; at the end, the number of steps."""
        self.is_paused = False
        self._target = 0
        """Steps before this one take no time."""
        self._is_whole = False
        """Whether all of the current step is shown."""
        self._changed = asyncio.Event()

    def toggle_pause(self) -> None:
        self.is_paused = not self.is_paused
        self._changed.set()
        self._show(())

    def next(self) -> None:
        """Show the rest of the current step; if all of it is shown, the next one."""
        self.skip_to(self.number + 1 + self._is_whole)

    def skip_to(self, to: int) -> None:
        self._target = max(self._target, min(to, len(self.steps)))
        self._changed.set()

    async def play(self) -> None:
        while self.number < len(self.steps):
            self._is_whole = False
            await self._rest(0)
            for place, moment in enumerate(self.steps[self.number], 1):
                if not (moment.is_passing and self.number < self._target):
                    self._show((moment,))
                self._is_whole = place == len(self.steps[self.number])
                await self._rest(moment.pause / self._speed)
            self.number += 1
            self._show(())
            # Thousands of skipped steps must not delay a key.
            await asyncio.sleep(0)

    async def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self.number >= self._target and (self.is_paused or time.monotonic() < until):
            self._changed.clear()
            left = None if self.is_paused else until - time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._changed.wait()


class PlaybackLine(Static):
    """The state of the playback, and its keys."""

    DEFAULT_CSS = """
    PlaybackLine { height: 1; padding: 0 1; background: $surface; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)

    def show(self, playback: Playback) -> None:
        count, number = len(playback.steps), playback.number
        state = "The end" if number == count else "Paused" if playback.is_paused else "Replay"
        self.update(f"{state} {number}/{count}  {KEYS}")


class ReplayScreen(SessionScreen, inherit_bindings=False):
    """The session screen with a line about the playback instead of the prompt."""

    BINDINGS = bindings(Context.REPLAY)
    AUTO_FOCUS = ""
    help_context = Context.REPLAY

    def __init__(
        self, launch: Launch, steps: tuple[Step, ...], speed: float, switch: Callable[[], SessionSwitch]
    ) -> None:
        super().__init__(launch, time.monotonic, switch)
        self._line = PlaybackLine()
        self.playback = Playback(steps, speed, self._show)

    def on_mount(self) -> None:
        self.query_one("#composer").display = False

    async def begin(self) -> None:
        playback = self.playback
        self.widgets.actions.table |= {
            "pause": playback.toggle_pause,
            "next": playback.next,
            "all": lambda: playback.skip_to(len(playback.steps)),
            "leave": self.app.action_quit,
        }
        await self.mount(self._line, before=self.status)
        self.router = self._build_router()
        self._line.show(playback)
        self.run_worker(playback.play(), group="replay")

    def show_all(self) -> None:
        """Show the whole conversation at once, without playback and status."""
        self.status.display = False
        self.router = router = self._build_router()
        with self.transcript.history.adding_many():
            for moment in (moment for step in self.playback.steps for moment in step):
                if not moment.is_passing:
                    router.route(moment.event)

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        bound = self.active_bindings.get(event.key) if isinstance(event, events.Key) else None
        if bound is not None and (bound.node is self or bound.binding.id in HARMLESS):
            await self.app.run_action(bound.binding.action, bound.node)
        return True

    def _show(self, moments: Step) -> None:
        if self.router is not None:
            for moment in moments:
                self.router.route(moment.event)
        self._line.show(self.playback)

    def turn_ended(self) -> None:
        """Show no branch: the folder's branch is that of today."""

    def _may_present(self) -> None:
        """Present nothing: there are no requests, and nobody types."""


class ReplayApp(CoderApp):
    """The program with a recorded session in it; ends when the user leaves."""

    def __init__(self, launch: Launch, steps: tuple[Step, ...], speed: float = 1.0) -> None:
        super().__init__(launch)
        self.replay_screen = self.session_screen = ReplayScreen(launch, steps, speed, lambda: self.switch)
        self.app_exit = AppExit(self, self.session_screen, launch)

    def get_default_screen(self) -> Screen[None]:
        return self.replay_screen

    async def _painted(self) -> None:
        await self.replay_screen.mount_rest()
        self.call_later(self.early_keys.release_all)
        await self.replay_screen.begin()


COLUMNS, ROWS = 100, 50
MOST_PAGES = 500
# Opening a picture must not contact another host, so it uses the fonts of this machine.
_FONT_ADDRESS = re.compile(r',?\s*url\("https?://[^")]*"\)\s*format\("[^"]*"\)')


class PictureApp(ReplayApp):
    """Shows everything at once, and sets `is_ready`."""

    def __init__(self, launch: Launch, steps: tuple[Step, ...]) -> None:
        super().__init__(launch, steps)
        self.is_ready = asyncio.Event()

    async def _painted(self) -> None:
        screen = self.replay_screen
        await screen.mount_rest()
        screen.show_all()
        self.is_ready.set()


async def pictures(
    launch: Launch, steps: tuple[Step, ...], columns: int = COLUMNS, rows: int = ROWS
) -> tuple[str, ...]:
    """Return one SVG a page; a very long session is cut off."""
    app, pages = PictureApp(launch, steps), list[str]()
    async with app.run_test(size=(columns, rows)) as pilot:
        await app.is_ready.wait()
        transcript = app.replay_screen.transcript
        await _drawn(pilot)
        transcript.view.scroll_home(animate=False, immediate=True)
        while len(pages) < MOST_PAGES:
            await _drawn(pilot)
            top = transcript.view.scroll_offset.y
            picture = app.export_screenshot(title=f"coder-tui {len(pages) + 1}")
            pages.append(_FONT_ADDRESS.sub("", picture))
            if top >= transcript.view.max_scroll_y:
                break
            transcript.view.scroll_to(y=top + transcript.view.size.height, animate=False, immediate=True)
    return tuple(pages)


async def _drawn(pilot: Pilot[int]) -> None:
    """Wait twice: what is drawn for the first time may have another height than estimated."""
    await pilot.pause()
    await pilot.pause()
