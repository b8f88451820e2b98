"""Ending the program: by key, by signal or because the terminal is gone; each closes the session first.

Also decides which errors of the screen a session survives, and reports one that ends the program.
"""

import asyncio
import logging
import os
import signal
import sys
import termios
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from traceback import extract_tb, walk_tb
from types import FrameType
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.events import Event, Key
from textual.worker import WorkerFailed

from coder_tui.protocol.errors import UserError
from coder_tui.text.crash_text import crash_text
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.launch import Launch
from coder_tui.ui.session.screen import SessionScreen
from coder_tui.ui.textual_internals import OutlivesErrors

if TYPE_CHECKING:
    from coder_tui.agent.session import Session


EXIT_CODE = 143
DEADLINE = 10.0
"""Seconds that closing the session may take."""


def watch_for_hangup(leave: Callable[[], None], clean_up: Callable[[], None]) -> None:
    """Call `leave` in the loop when the terminal hangs up; `clean_up` if even that does not finish.

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
        # A hangup sends this signal too; resuming the terminal would then hang forever.
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
    report = crash_text(error, Redactor(os.environ)) if error else ""
    return Text(f"{safe_text(report)}{WHERE}")


def _described(cause: BaseException) -> str:
    from coder_tui.text.redact import Redactor

    return safe_line(Redactor(os.environ)(f"{type(cause).__name__}: {cause}"))[:LONGEST_CAUSE]


def _cause(error: Exception) -> BaseException:
    return error.error if isinstance(error, WorkerFailed) else error


def _is_in_layout(cause: BaseException) -> bool:
    return any(frame.f_code.co_name == LAYOUT for frame, _ in walk_tb(cause.__traceback__))


NOT_KEPT = "The demo is over. Its session and its project were deleted."


class AppExit:
    """Ends the program once, however often it is asked to."""

    def __init__(self, app: SurvivingApp, screen: SessionScreen, launch: Launch) -> None:
        self._app = app
        self.screen = screen
        self._clean_up = launch.clean_up
        self._keeps_transcript = launch.keeps_transcript
        self.transcript = ""
        """The session as text, if that was asked for."""
        self._is_leaving = False

    def watch(self) -> None:
        """Leave at a signal."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._terminated)
        if self._app.is_headless:
            loop.add_signal_handler(signal.SIGHUP, self._terminated)
        else:
            watch_for_hangup(lambda: self._start(self._leave_unseen()), self._clean_up)

    def _terminated(self) -> None:
        self._start(self.leave(EXIT_CODE))

    async def leave(self, code: int) -> None:
        if self._is_leaving:
            return
        self._is_leaving = True
        await self._app.end_if_fails(self._close(code))

    async def _close(self, code: int) -> None:
        await stop_activity(self.screen)
        try:
            summary = await self._summary()
            if self._keeps_transcript and self._session is not None:
                # Printed before the summary, which would scroll away above it.
                self.transcript = f"{await self._session.report.export()}\n{summary or ''}".rstrip()
                summary = None
            if (session := self._session) is not None:
                await session.close()
        except UserError as error:
            self._app.exit(error.exit_code, error.exit_code, last_words(error))
        else:
            self._app.exit(code, code, summary)

    async def _leave_unseen(self) -> None:
        if self.screen.is_fully_mounted:
            await self.screen.widgets.drafts.save_now()
        if (session := self._session) is not None:
            with suppress(UserError):  # nobody is left to read what went wrong
                await session.close()
        end_at_once(self._clean_up)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._app.run_worker(work, group="leave")

    @property
    def _session(self) -> "Session | None":
        return self.screen.widgets.sender.session if self.screen.is_fully_mounted else None

    async def _summary(self) -> Text | None:
        """Summarize the session and how to resume it; None if there is nothing to resume."""
        session, router = self._session, self.screen.router
        if session is None or router is None or not router.title:
            return None
        if not session.is_kept:
            return None if session.forks.is_unused else Text(NOT_KEPT)
        # Comparing files is not needed before the first paint.
        from coder_tui.agent.exit_summary import exit_summary

        cost, files = self.screen.status.status.cost, await session.changed_files()
        check = session.verifier.newest
        return Text(await exit_summary(router.title, files, session.directory, check, cost, session.id))


async def stop_activity(screen: SessionScreen) -> None:
    """Stop everything that a screen runs before it goes: editors, searches, the title."""
    if not screen.is_fully_mounted:
        return
    await screen.widgets.drafts.save_now()
    await screen.widgets.presenter.stop_editing()
    screen.widgets.reader.stop()
    await screen.widgets.composing.stop()
    screen.widgets.attention.stop()


def last_words(error: UserError) -> Text:
    return Text(f"coder-tui: {safe_text(str(error))}")
