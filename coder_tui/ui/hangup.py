"""When the terminal goes away: end for certain, without writing to what is no longer there."""

import asyncio
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable
from types import FrameType

EXIT_CODE = 143
DEADLINE = 10.0
"""Seconds that a farewell to the session may take."""


def watch_for_hangup(leave: Callable[[], None], clean_up: Callable[[], None]) -> None:
    """Call `leave` in the loop when the terminal hangs up; `clean_up` when even that does not come to an end.

    A Python signal handler, not the loop's: the loop may be waiting for the thread that writes to the
    terminal, which died with it.
    """
    loop = asyncio.get_running_loop()
    resume = signal.getsignal(signal.SIGCONT)

    def hung_up(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGCONT, signal.SIG_IGN)
        watchdog = threading.Timer(DEADLINE, end_at_once, (clean_up,))
        watchdog.daemon = True
        watchdog.start()
        loop.call_soon_threadsafe(leave)

    def resumed(number: int, frame: FrameType | None) -> None:
        # A hangup sends this signal too; taking the terminal up again would then hang for ever.
        if _has_terminal() and callable(resume):
            resume(number, frame)

    signal.signal(signal.SIGHUP, hung_up)
    signal.signal(signal.SIGCONT, resumed)


def end_at_once(clean_up: Callable[[], None]) -> None:
    """Leave without restoring a terminal that is gone."""
    clean_up()
    os._exit(EXIT_CODE)


def _has_terminal() -> bool:
    try:
        termios.tcgetattr(sys.__stdin__.fileno() if sys.__stdin__ else 0)
    except (termios.error, OSError, ValueError):
        return False
    return True
