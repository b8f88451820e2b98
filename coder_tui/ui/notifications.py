"""Notifies a user who is looking elsewhere: by the terminal's title, its bell, a desktop notification."""

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from textual.app import App
from textual.screen import Screen

from coder_tui.protocol.events import (
    Event,
    RequestClosed,
    RequestOpened,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.clipboard import wrapped_for_tmux
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.textual_internals import write_to_terminal

PATIENCE = 10.0
"""Seconds after which the user probably looks elsewhere."""
LONGEST_TITLE = 60
KEEP_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
BELL = "\a"
_SILENT = frozenset({"", "dumb", "linux"})
"""Terminals that would print what they do not understand."""


class State(StrEnum):
    NEW = "new"
    WORKING = "working"
    WAITING = "waiting"
    DONE = "done"


def title_sequence(text: str) -> str:
    return f"\x1b]2;{safe_line(text)[:LONGEST_TITLE]}{BELL}"


def note_sequence(text: str, environ: Mapping[str, str]) -> str:
    """Return a desktop notification in one way that the terminal knows: some would show both."""
    term = environ.get("TERM", "")
    knows_titles = term.startswith(("rxvt", "foot")) or "VTE_VERSION" in environ
    knows_titles = knows_titles or environ.get("TERM_PROGRAM") in {"ghostty", "WezTerm"}
    words = safe_line(text).replace(";", ",")
    body = f"777;notify;coder-tui;{words}" if knows_titles else f"9;coder-tui: {words}"
    return wrapped_for_tmux(f"\x1b]{body}{BELL}", environ)


class Attention:
    """Follows the session's events; writes only on changes, and notifies once for each."""

    def __init__(
        self,
        screen: Screen[Any],
        chrome: Chrome,
        clock: Callable[[], float],
        is_asking: Callable[[], bool],
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`is_asking` returns whether a request is open on the screen, and not only announced."""
        self._screen = screen
        self._is_asking = is_asking
        self._project = ""
        self._clock = clock
        self._environ = environ
        self._signs = {
            State.NEW: "",
            State.WORKING: f"{chrome.running} ",
            State.WAITING: f"{chrome.waiting} ",
            State.DONE: f"{chrome.ok} ",
        }
        self._state = State.NEW
        self._title = ""
        self._began = 0.0
        self._waiting: set[str] = set()
        self._is_quiet = environ.get("TERM", "") in _SILENT
        self._is_away = True
        """Whether another program has the terminal."""
        self._is_over = False

    def begin(self, project: str) -> None:
        """Set the title, and restore it whenever another program gets the terminal."""
        self._project = project
        if self._is_away:
            app = self._screen.app
            app.app_suspend_signal.subscribe(self._screen, self._suspended, immediate=True)
            app.app_resume_signal.subscribe(self._screen, self._resumed, immediate=True)
            self._is_away = False
            self._send(KEEP_TITLE)
        self._show_title()

    def stop(self) -> None:
        """For good: another session may have the terminal now."""
        self._send(RESTORE_TITLE)
        self._is_away = self._is_over = True

    def handle_event(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._began = self._clock()
                self._become(State.WORKING)
            case RequestOpened(request):
                self._waiting.add(request.id)
                self._become(State.WAITING, "waits for you")
            case RequestClosed(request_id):
                self._waiting.discard(request_id)
                if not self._waiting and self._state is State.WAITING:
                    self._began = self._clock()
                    self._become(State.WORKING)
            case TurnFinished(outcome=TurnOutcome.INTERRUPTED):
                self._become(State.DONE)  # the user is here
            case TurnFinished():
                self._become(State.DONE, "is done")
            case TurnFailed():
                self._become(State.DONE, "has stopped: the model did not answer")
            case _:
                pass

    def write(self, sequence: str) -> None:
        write_to_terminal(self._screen.app, sequence)

    def _become(self, state: State, news: str = "") -> None:
        if state is self._state:
            return
        self._state = state
        self._show_title()
        if news:
            self._call(f"{self._project} {news}")

    def _call(self, words: str) -> None:
        is_elsewhere = not self._screen.app.app_focus or self._clock() - self._began > PATIENCE
        if is_elsewhere and not self._is_quiet:
            self._send(BELL + note_sequence(words, self._environ))
        elif is_elsewhere or (self._state is State.WAITING and not self._is_asking()):
            self._send(BELL)

    def _show_title(self) -> None:
        title = f"{self._signs[self._state]}{self._project}"
        if title != self._title and not self._is_quiet and not self._is_away:
            self._title = title
            self.write(title_sequence(title))

    def _send(self, sequence: str) -> None:
        if not self._is_away and (sequence == BELL or not self._is_quiet):
            self.write(sequence)

    def _suspended(self, app: App[Any]) -> None:
        self._send(RESTORE_TITLE)
        self._is_away, self._title = True, ""

    def _resumed(self, app: App[Any]) -> None:
        if not self._is_over:
            self._is_away = False
            self._send(KEEP_TITLE)
            self._show_title()
