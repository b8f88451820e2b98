"""Errors of the screen: which of them a session outlives, and the report of one that ends the program."""

import logging
import os
import sys
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from traceback import extract_tb, walk_tb

from rich.text import Text
from textual.events import Event, Key
from textual.worker import WorkerFailed

from coder_tui.text.crash_text import crash_text
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.textual_internals import OutlivesErrors

log = logging.getLogger(__name__)
WHERE = "coder-tui: internal error, see above; 'coder-tui doctor' names the log file that has it too"
LONGEST_CAUSE = 120
MOST_FAILED_CANCELS = 3
LAYOUT, LAYOUTS, LAYOUT_SECONDS = "_refresh_layout", 20, 60.0
"""A screen that cannot be laid out shows nothing new. After so many attempts it never will."""
LOOPS, LOOP_SECONDS = 300, 3.0
"""Faster than any key repeats and any frame follows another: an error that causes itself."""


class ScreenErrors:
    """Logs each error once, and notices one that repeats endlessly."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: dict[tuple[str, str, int], deque[float]] = {}

    def add(self, error: Exception) -> str:
        """Count an error; returns a line for the user, or nothing if it was reported before."""
        cause = _cause(error)
        place = extract_tb(cause.__traceback__, -1)[0] if cause.__traceback__ else None
        key = type(cause).__name__, place.filename if place else "", (place and place.lineno) or 0
        is_new = key not in self._times
        most = LAYOUTS if _is_in_layout(cause) else LOOPS
        self._times.setdefault(key, deque(maxlen=most)).append(self._clock())
        if not is_new:
            return ""
        log.error("the screen goes on after an error", exc_info=cause)
        return f"Something went wrong on the screen: {_described(cause)}; details in the log"

    @property
    def is_endless(self) -> bool:
        """Whether an error repeats so fast, or so often in the layout, that going on is useless."""
        return any(
            len(times) == times.maxlen and times[-1] - times[0] < _SPANS[times.maxlen]
            for times in self._times.values()
        )


_SPANS = {LAYOUTS: LAYOUT_SECONDS, LOOPS: LOOP_SECONDS}


class SurvivingApp(OutlivesErrors):
    """Goes on after errors, except those that leave the user without a session or a way out."""

    def __init__(self) -> None:
        self._errors = ScreenErrors()
        self._must_end = False
        self._failed_cancels = 0
        super().__init__()

    @abstractmethod
    def report_error(self, line: str) -> None:
        """Show a line about an error that the program goes on after."""

    def outlives(self, error: Exception) -> bool:
        if self._must_end:
            return False
        line = self._errors.add(error)
        self._must_end = self._errors.is_endless
        if line:
            # Later: the error may have come from the middle of a layout.
            self.call_later(self.report_error, line)
        return not self._must_end

    async def end_if_fails(self, work: Awaitable[None]) -> None:
        """Do what no session can go on without: an error in it ends the program."""
        try:
            await work
        except Exception:
            self._must_end = True
            raise

    @contextmanager
    def leaving_what_fails(self, event: Event) -> Iterator[None]:
        """Close a dialog that fails at Esc or Ctrl+C; quit at the third Ctrl+C that fails."""
        key = event.key if isinstance(event, Key) else ""
        try:
            yield
        except Exception:
            self._failed_cancels += key == "ctrl+c"
            if self._failed_cancels == MOST_FAILED_CANCELS:
                self.call_later(self.action_quit)
            elif key in {"escape", "ctrl+c"} and len(self.screen_stack) > 1:
                self.screen.dismiss()
            raise
        if key == "ctrl+c":
            self._failed_cancels = 0

    def _fatal_error(self) -> None:
        # Once: Textual would advise to run its development tools for the others.
        if not self._exit_renderables:
            # Textual's own report shows local variables: keys, prompts, files.
            self.panic(crash_report(sys.exception() or self._exception))

    async def _close_all(self) -> None:
        try:
            await super()._close_all()
        except Exception:
            # A screen that cannot be laid out cannot be closed either. The terminal has to be restored.
            log.exception("the screens could not be closed")


def crash_report(error: BaseException | None) -> Text:
    # Imported here: the first paint must not pay for what is needed when all is over.
    from coder_tui.text.redact import Redactor

    log.error("the screen failed", exc_info=error)
    told = crash_text(error, Redactor(os.environ)) if error else ""
    return Text(f"{safe_text(told)}{WHERE}")


def _described(cause: BaseException) -> str:
    from coder_tui.text.redact import Redactor

    return safe_line(Redactor(os.environ)(f"{type(cause).__name__}: {cause}"))[:LONGEST_CAUSE]


def _cause(error: Exception) -> BaseException:
    return error.error if isinstance(error, WorkerFailed) else error


def _is_in_layout(cause: BaseException) -> bool:
    return any(frame.f_code.co_name == LAYOUT for frame, _ in walk_tb(cause.__traceback__))
