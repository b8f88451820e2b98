"""Shows requests to the user, one at a time, when the user is not busy typing."""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

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
    from coder_tui.ui.requests.pending import PendingScreen


QUIET_BEFORE_OPENING = 1.0
"""Seconds without a key before a request opens."""


class ProposalChecks:
    """What language servers report about proposed changes, by call, also before the dialog opens."""

    def __init__(self) -> None:
        self._known: dict[str, ProposalCheck] = {}
        self._followed: dict[str, Callable[[ProposalCheck], None]] = {}

    def record(self, call_id: str, check: "ProposalCheck") -> None:
        self._known[call_id] = check
        if (show := self._followed.get(call_id)) is not None:
            show(check)

    def follow(self, call_id: str, show: "Callable[[ProposalCheck], None]") -> None:
        """Call `show` with the last report and with each new one."""
        self._followed[call_id] = show
        if (check := self._known.get(call_id)) is not None:
            show(check)

    def forget(self, call_id: str) -> None:
        self._known.pop(call_id, None)
        self._followed.pop(call_id, None)


ESCAPE_PAUSE = 0.3
"""Seconds. A repeated Esc that was meant for a dialog that just closed must not reach the screen below."""


class RequestPresenter:
    """The queue of requests of one session screen."""

    def __init__(
        self,
        screen: Screen[None],
        prompt: Prompt,
        card: RequestCard,
        cover: TooSmall,
        chrome: Chrome,
        answer: "Callable[[str, Reply], None]",
        send: Callable[[str], None],
        clock: Callable[[], float],
        launch: Launch,
    ) -> None:
        """`answer` receives the reply to a request. `send` sends a message as if the user had typed it."""
        self._screen = screen
        self._prompt = prompt
        self._card = card
        self._cover = cover
        self._chrome = chrome
        self._answer = answer
        self._send = send
        self._clock = clock
        self._launch = launch
        self.checks = ProposalChecks()
        self._last_key = -math.inf
        self._changed = asyncio.Event()
        self._queue: dict[str, Request] = {}
        self._done = 0
        """Requests answered since the queue was last empty."""
        self._dialogs: RequestDialogs | None = None
        self._dialog: Dialog | None = None
        self._list: PendingScreen | None = None
        self._timer: Timer | None = None
        self._closed_at = float("-inf")

    @property
    def has_just_closed(self) -> bool:
        return self._clock() - self._closed_at < ESCAPE_PAUSE

    @property
    def has_requests(self) -> bool:
        """Whether there is a request to answer, or a cancelled one that can still be answered."""
        return bool(self._queue) or self._has_cancelled

    @property
    def is_asking(self) -> bool:
        """Whether a dialog or the list is open."""
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
        """Record that a key went to the session screen at this time."""
        self._last_key = max(self._last_key, at)

    async def stop_editing(self) -> None:
        """Close an external editor, because the program is about to exit."""
        if self._dialog is not None:
            await self._dialog.stop_editing()

    def open_now(self) -> None:
        """Open a request because the user asked for it. The dialog still waits for a pause in typing."""
        if self.is_asking or self._has_no_room:
            return
        if len(self._queue) > 1:
            self._open_list()
        elif self._queue:
            self._open(next(iter(self._queue.values())))
        elif self._dialogs is not None and self._dialogs.cancelled is not None:
            self._open(self._dialogs.cancelled.request)

    def forget_cancelled(self) -> None:
        """Drop cancelled questions: the user has moved on."""
        if self._has_cancelled and self._dialogs is not None:
            self._dialogs.cancelled = None
            self._show_queue()

    def consider(self) -> None:
        """Open the first request if possible. Otherwise show a card and try again later."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._changed.set()
        if self._queue and not self.is_asking:
            wait = self.seconds_to_wait()
            if wait == 0:
                self._open(next(iter(self._queue.values())))
            elif wait is not None:
                self._timer = self._screen.set_timer(wait, self.consider)
        self._show_queue()

    async def wait_for_quiet(self) -> None:
        """Wait until a dialog may open, as for a request: no draft, no other dialog, no recent key."""
        while (wait := self.seconds_to_wait()) != 0:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()

    def seconds_to_wait(self) -> float | None:
        """Return how long until a request may open: never over typing, a draft or another dialog.

        Returns None if something else has to change first.
        """
        if not self._prompt.is_empty or self._has_no_room or not self._screen.is_active:
            return None
        return max(0.0, self._last_key + QUIET_BEFORE_OPENING - self._clock())

    def _load_dialogs(self) -> "RequestDialogs":
        # The dialogs and their parts took a tenth of the time to the first paint, which does not need them.
        from coder_tui.ui.requests.dialogs import RequestDialogs
        from coder_tui.ui.requests.guarded_screen import DialogContext

        if self._dialogs is None:
            keys = self._launch.answer_keys
            context = DialogContext(self._chrome, self._prompt.type_text, self._clock, keys)
            self._dialogs = RequestDialogs(context, self._launch, self._screen.app, self.checks)
        return self._dialogs

    def _open(self, request: "Request") -> None:
        self._dialog = self._load_dialogs().make(request)
        self._show_queue()
        self._screen.run_worker(self._present(self._dialog), group="requests")

    async def _present(self, dialog: "Dialog") -> None:
        closed = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        self._closed_at = self._clock()
        is_open = dialog.request.id in self._queue
        message = self._load_dialogs().closed(dialog, closed.reply, is_open=is_open)
        if message:
            self._send(message)
        elif closed.reply is not None and is_open:
            self._reply(dialog.request.id, closed.reply)
        if closed.wants_list and self._queue and not self._has_no_room:
            self._open_list()
        self.consider()

    def _open_list(self) -> None:
        self._list = self._load_dialogs().list(tuple(self._queue.values()))
        self._screen.run_worker(self._present_list(self._list), group="requests")

    async def _present_list(self, waiting: "PendingScreen") -> None:
        chosen = (await self._screen.app.push_screen_wait(waiting)).reply
        self._list = None
        self._closed_at = self._clock()
        if chosen is None:
            # A user who closes the list does not want the first request to open at once.
            self.pressed(self._clock())
        else:
            for request_id, reply in chosen.replies:
                if request_id in self._queue:
                    self._reply(request_id, reply)
            if chosen.opens is not None and chosen.opens.id in self._queue:
                self._open(chosen.opens)
        self.consider()

    def _reply(self, request_id: str, reply: "Reply") -> None:
        self._done += 1
        self._remove(request_id)
        self._answer(request_id, reply)

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

    def _show_queue(self) -> None:
        shown = self._dialog.request.id if self._dialog is not None else ""
        others = (request for request in self._queue.values() if request.id != shown)
        waiting = Waiting(tuple(islice(others, SHOWN)), len(self._queue) - (shown in self._queue))
        self._card.show(waiting, has_cancelled=self._has_cancelled and self._dialog is None)
        self._cover.show_waiting(bool(self._queue))
        if self._list is not None:
            self._list.show(tuple(self._queue.values()))
        if self._dialog is not None:
            total = self._done + len(self._queue)
            place = f"{self._done + 1} of {total}" if total > 1 else ""
            self._dialog.show_queue(place, waiting)
