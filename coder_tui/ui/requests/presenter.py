"""Brings requests before the person, one at a time, when there is a moment for it.

Rule 1 of the approval guard: a request does not open over typing, a draft or another dialog.

What language servers say of changes that wait: before their dialogs open, or while they are read.
"""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from textual.screen import Screen
from textual.timer import Timer

from coder_tui.ui.chrome.banners import SHOWN, RequestCard, TooSmall, Waiting
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import Launch
from coder_tui.ui.prompt.prompt import Prompt

if TYPE_CHECKING:
    from coder_tui.protocol.diagnostics import ProposalCheck
    from coder_tui.protocol.requests import Reply, Request
    from coder_tui.ui.requests.dialogs import Dialog, RequestDialogs
    from coder_tui.ui.requests.pending import WaitingScreen


QUIET_BEFORE_OPENING = 1.0


class Deferral:
    """Remembers the last key; all times are of one clock."""

    def __init__(self) -> None:
        self._last_key = -math.inf

    def pressed(self, at: float) -> None:
        self._last_key = max(self._last_key, at)

    def wait(self, at: float, *, has_draft: bool, is_covered: bool) -> float | None:
        """Seconds until a request may open; None when something has to change first."""
        if has_draft or is_covered:
            return None
        return max(0.0, self._last_key + QUIET_BEFORE_OPENING - at)


class ProposalChecks:
    """By call."""

    def __init__(self) -> None:
        self._known: dict[str, ProposalCheck] = {}
        self._followed: dict[str, Callable[[ProposalCheck], None]] = {}

    def take(self, call_id: str, check: "ProposalCheck") -> None:
        self._known[call_id] = check
        if (show := self._followed.get(call_id)) is not None:
            show(check)

    def follow(self, call_id: str, show: "Callable[[ProposalCheck], None]") -> None:
        """Show what is known, and what comes."""
        self._followed[call_id] = show
        if (check := self._known.get(call_id)) is not None:
            show(check)

    def forget(self, call_id: str) -> None:
        self._known.pop(call_id, None)
        self._followed.pop(call_id, None)


ESCAPE_PAUSE = 0.3
"""A repeated Esc, meant for a dialog that just closed, must not reach what lay under it."""


class Core(Protocol):
    """Where replies go."""

    def answer(self, request_id: str, reply: "Reply") -> None: ...
    def send(self, text: str) -> None:
        """A message, as if the person had typed it."""


class RequestPresenter:
    """The queue of requests of one session screen."""

    def __init__(
        self,
        screen: Screen[None],
        prompt: Prompt,
        card: RequestCard,
        cover: TooSmall,
        chrome: Chrome,
        core: Core,
        clock: Callable[[], float],
        launch: Launch,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._card = card
        self._cover = cover
        self._chrome = chrome
        self._core = core
        self._clock = clock
        self._launch = launch
        self.checks = ProposalChecks()
        self._deferral = Deferral()
        self._changed = asyncio.Event()
        self._queue: dict[str, Request] = {}
        self._done = 0
        """Requests answered since none waited."""
        self._dialogs: RequestDialogs | None = None
        self._dialog: Dialog | None = None
        self._list: WaitingScreen | None = None
        self._timer: Timer | None = None
        self._closed_at = float("-inf")

    @property
    def has_just_closed(self) -> bool:
        return self._clock() - self._closed_at < ESCAPE_PAUSE

    @property
    def has_requests(self) -> bool:
        """Whether there is something to answer, or to answer after all."""
        return bool(self._queue) or self._has_cancelled

    @property
    def is_asking(self) -> bool:
        """Whether a request is open before the person."""
        return self._dialog is not None or self._list is not None

    def opened(self, request: "Request") -> None:
        self._queue[request.id] = request
        self.consider()

    def closed(self, request_id: str) -> None:
        request = self._queue.get(request_id)
        if request is not None:
            self.checks.forget(request.call_id)
        self._remove(request_id)
        if self._dialog is not None and self._dialog.request.id == request_id:
            self._dialog.withdraw()
        elif request is not None and self._dialogs is not None:
            self._dialogs.withdrawn(request)
        self.consider()

    def pressed(self, at: float) -> None:
        """A key went to the session screen at this time."""
        self._deferral.pressed(at)

    async def stop_editing(self) -> None:
        """The program is about to end: no editor may keep the terminal."""
        if self._dialog is not None:
            await self._dialog.stop_editing()

    def open_now(self) -> None:
        """The person asked for it; the dialog still waits for a moment of silence."""
        if self.is_asking or self._has_no_room:
            return
        if len(self._queue) > 1:
            self._open_list()
        elif self._queue:
            self._open(next(iter(self._queue.values())))
        elif self._dialogs is not None and self._dialogs.cancelled is not None:
            self._open(self._dialogs.cancelled.request)

    def forget_cancelled(self) -> None:
        """The person went on with something else."""
        if self._has_cancelled and self._dialogs is not None:
            self._dialogs.cancelled = None
            self._show_queue()

    def consider(self) -> None:
        """Open the first request if nothing stands against it, else show a card and look again later."""
        self._stop_timer()
        self._changed.set()
        if self._queue and not self.is_asking:
            wait = self._wait()
            if wait == 0:
                self._open(next(iter(self._queue.values())))
            elif wait is not None:
                self._timer = self._screen.set_timer(wait, self.consider)
        self._show_queue()

    async def moment(self) -> None:
        """Wait until a dialog may open, as a request does: no draft, no other dialog, and silence."""
        while (wait := self._wait()) != 0:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()

    def _wait(self) -> float | None:
        is_covered = self._has_no_room or not self._screen.is_active
        has_draft = not self._prompt.is_empty
        return self._deferral.wait(self._clock(), has_draft=has_draft, is_covered=is_covered)

    def _made(self) -> "RequestDialogs":
        # The dialogs and their parts took a tenth of the time to the first paint, which needs none of them.
        from coder_tui.ui.requests.dialogs import RequestDialogs

        if self._dialogs is None:
            spill = self._prompt.type_text
            self._dialogs = RequestDialogs(
                self._chrome, spill, self._clock, self._launch, self._screen.app, self.checks
            )
        return self._dialogs

    def _open(self, request: "Request") -> None:
        self._dialog = self._made().make(request)
        self._show_queue()
        self._screen.run_worker(self._present(self._dialog), group="requests")

    async def _present(self, dialog: "Dialog") -> None:
        closed = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        self._closed_at = self._clock()
        is_open = dialog.request.id in self._queue
        message = self._made().closed(dialog, closed.reply, is_open=is_open)
        if message:
            self._core.send(message)
        elif closed.reply is not None and is_open:
            self._reply(dialog.request.id, closed.reply)
        if closed.wants_list and self._queue and not self._has_no_room:
            self._open_list()
        self.consider()

    def _open_list(self) -> None:
        self._list = self._made().list(tuple(self._queue.values()))
        self._screen.run_worker(self._present_list(self._list), group="requests")

    async def _present_list(self, waiting: "WaitingScreen") -> None:
        closed = await self._screen.app.push_screen_wait(waiting)
        self._list = None
        self._closed_at = self._clock()
        for request_id, reply in closed.replies:
            if request_id in self._queue:
                self._reply(request_id, reply)
        if closed.opens is not None and closed.opens.id in self._queue:
            self._open(closed.opens)
        elif closed.opens is None and not closed.replies:
            # Whoever closes the list does not want the first of it opened at once.
            self._deferral.pressed(self._clock())
        self.consider()

    def _reply(self, request_id: str, reply: "Reply") -> None:
        self._done += 1
        self._remove(request_id)
        self._core.answer(request_id, reply)

    @property
    def _has_no_room(self) -> bool:
        return TooSmall.is_too_small(self._screen.size)

    @property
    def _has_cancelled(self) -> bool:
        return self._dialogs is not None and self._dialogs.cancelled is not None

    def _remove(self, request_id: str) -> None:
        self._queue.pop(request_id, None)
        if not self._queue:
            self._done = 0

    def _first_waiting(self, shown: str) -> Waiting:
        others = (request for request in self._queue.values() if request.id != shown)
        return Waiting(tuple(islice(others, SHOWN)), len(self._queue) - (shown in self._queue))

    def _show_queue(self) -> None:
        shown = self._dialog.request.id if self._dialog is not None else ""
        waiting = self._first_waiting(shown)
        self._card.show(waiting, has_cancelled=self._has_cancelled and self._dialog is None)
        self._cover.show_waiting(bool(self._queue))
        if self._list is not None:
            self._list.show(tuple(self._queue.values()))
        if self._dialog is not None:
            total = self._done + len(self._queue)
            place = f"{self._done + 1} of {total}" if total > 1 else ""
            self._dialog.show_queue(place, waiting)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
