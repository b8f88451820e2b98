"""Shows a stored session again on the real screen: nothing can be said to it, and nothing runs."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from textual import events
from textual.screen import Screen
from textual.widgets import Static

from coder_tui.agent.undo.replay import Step
from coder_tui.ui.app import CoderApp
from coder_tui.ui.exit import Departure
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Launch
from coder_tui.ui.session.screen import SessionScreen

KEYS = "Space pauses, Right next step, End all, Esc leaves"

HARMLESS = frozenset({"app.repaint", "app.suspend"})
"""What else of the program's keys has a meaning here."""


class Playback:
    """Goes through steps at a speed; may be halted, and hurried. `show` gets each moment as it comes."""

    def __init__(self, steps: tuple[Step, ...], speed: float, show: Callable[[Step], None]) -> None:
        self.steps = steps
        self._speed = speed
        self._show = show
        self.number = 0
        """Of the step at hand, from 0; as many as there are at the end."""
        self.is_halted = False
        self._target = 0
        """Steps before this one take no time."""
        self._is_whole = False
        """Whether all of the step at hand is shown."""
        self._changed = asyncio.Event()

    def halt(self) -> None:
        self.is_halted = not self.is_halted
        self._changed.set()

    def next(self) -> None:
        """Show the rest of the step at hand; where that is shown, the one after it."""
        self.hurry(self.number + 1 + self._is_whole)

    def hurry(self, to: int) -> None:
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
            # Thousands of hurried steps must not keep a key waiting.
            await asyncio.sleep(0)

    async def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self.number >= self._target and (self.is_halted or time.monotonic() < until):
            self._changed.clear()
            left = None if self.is_halted else until - time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._changed.wait()


class PlaybackLine(Static):
    """Where the playback stands, and its keys."""

    DEFAULT_CSS = """
    PlaybackLine { height: 1; padding: 0 1; background: $surface; color: $text-muted; }
    """

    def __init__(self) -> None:
        super().__init__("", markup=False)

    def tell(self, playback: Playback) -> None:
        count, number = len(playback.steps), playback.number
        state = "The end" if number == count else "Halted" if playback.is_halted else "Replay"
        self.update(f"{state} {number}/{count}  {KEYS}")


class ReplayScreen(SessionScreen, inherit_bindings=False):
    """The session's screen with a line about the playback in the prompt's place."""

    BINDINGS = bindings(Context.REPLAY)
    AUTO_FOCUS = ""
    help_context = Context.REPLAY

    def __init__(self, launch: Launch, steps: tuple[Step, ...], speed: float) -> None:
        super().__init__(launch, time.monotonic)
        self._line = PlaybackLine()
        self.playback = Playback(steps, speed, self._show)

    def on_mount(self) -> None:
        self.query_one("#composer").display = False

    async def begin(self) -> None:
        await self.mount(self._line, before=self.status)
        self.router = self._build_router()
        self._tell()
        self.run_worker(self.playback.play(), group="replay")

    def show_all(self) -> None:
        """What was said and done, without a playback, and nothing around it."""
        self.status.display = False
        self.router = router = self._build_router()
        with self.transcript.adding_many():
            for moment in (moment for step in self.playback.steps for moment in step):
                if not moment.is_passing:
                    router.route(moment.event)

    async def take(self, event: events.Key | events.Paste) -> bool:
        bound = self.active_bindings.get(event.key) if isinstance(event, events.Key) else None
        if bound is not None and (bound.node is self or bound.binding.id in HARMLESS):
            await self.app.run_action(bound.binding.action, bound.node)
        return True

    def action_pause(self) -> None:
        self.playback.halt()
        self._tell()

    def action_next(self) -> None:
        self.playback.next()

    def action_all(self) -> None:
        self.playback.hurry(len(self.playback.steps))

    async def action_leave(self) -> None:
        await self.app.action_quit()

    def _show(self, moments: Step) -> None:
        if self.router is not None:
            for moment in moments:
                self.router.route(moment.event)
        self._tell()

    def _tell(self) -> None:
        self._line.tell(self.playback)

    def _turn_ended(self) -> None:
        """The folder's branch is that of today."""

    def _may_present(self) -> None:
        """There is nothing to present, and nobody types."""


class ReplayApp(CoderApp):
    """The program with a recorded session in it; ends where the person leaves."""

    def __init__(self, launch: Launch, steps: tuple[Step, ...], speed: float = 1.0) -> None:
        super().__init__(launch)
        self.replay_screen = self.session_screen = ReplayScreen(launch, steps, speed)
        self.departure = Departure(self, self.session_screen, launch)

    def get_default_screen(self) -> Screen[None]:
        return self.replay_screen

    async def _painted(self) -> None:
        await self.replay_screen.furnish()
        self.call_later(self.early_keys.let_all)
        await self.replay_screen.begin()
