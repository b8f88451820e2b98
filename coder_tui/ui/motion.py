"""All timers of the screen. They run only while something happens: an idle screen writes nothing."""

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable
from time import perf_counter

from textual.message_pump import MessagePump
from textual.timer import Timer

FRAME = 0.06
"""Seconds between two drawings of streaming text: reads as continuous and costs little."""

SHARE = 4
"""A slow drawing waits this many times its cost, so that keys get most of the loop."""

LONGEST_WAIT = 0.25

CATCH_UP = 0.01
"""Seconds between two drawings when much arrives at once."""

WARM_UP = 0.3
"""Seconds after the first paint at which modules for later are loaded, when nobody waits."""


class Pacer:
    """Turns any number of requests into at most one drawing a frame; the last one is always drawn.

    The first after a pause is drawn at once.
    """

    def __init__(self, owner: MessagePump, draw: Callable[[], bool]) -> None:
        """`draw` returns whether something is left to draw."""
        self._owner = owner
        self._draw = draw
        self._alarm: TimerHandle | None = None
        self._drawn_at = float("-inf")
        self._cost = 0.0

    @property
    def is_pending(self) -> bool:
        return self._alarm is not None

    def request(self) -> None:
        if self._alarm is None:
            frame = min(LONGEST_WAIT, max(FRAME, SHARE * self._cost))
            self._set(max(0.0, self._drawn_at + frame - perf_counter()))

    def cancel(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _set(self, seconds: float) -> None:
        # Not a Textual timer: each of those is a separate task.
        self._alarm = get_running_loop().call_later(seconds, self._owner.call_next, self._act)

    def _act(self) -> None:
        if self._alarm is None:
            return
        self._alarm = None
        self._drawn_at = perf_counter()
        has_more = self._draw()
        self._cost = perf_counter() - self._drawn_at
        if has_more:
            self._set(max(CATCH_UP, self._cost))


def after_first_paint(owner: MessagePump, act: Callable[[], object]) -> None:
    owner.call_after_refresh(owner.set_timer, WARM_UP, act)


class SecondHand:
    """Calls `tick` once a second, from `start` until `stop`."""

    def __init__(self, owner: MessagePump, tick: Callable[[], None]) -> None:
        self._owner = owner
        self._tick = tick
        self._timer: Timer | None = None

    @property
    def is_ticking(self) -> bool:
        return self._timer is not None

    def start(self) -> None:
        if self._timer is None:
            self._timer = self._owner.set_interval(1.0, self._tick)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
