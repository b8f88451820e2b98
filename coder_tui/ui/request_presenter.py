"""Brings requests before the person, one at a time, when there is a moment for it."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from textual.screen import Screen
from textual.timer import Timer

from coder_tui.protocol.requests import Reply, Request
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.launch import Launch
from coder_tui.ui.request_deferral import Deferral
from coder_tui.ui.widgets.lines import RequestCard, TooSmall
from coder_tui.ui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from coder_tui.ui.screens.approval import ApprovalScreen

ESCAPE_PAUSE = 0.3
"""A repeated Esc, meant for a dialog that just closed, must not reach what lay under it."""


class RequestPresenter:
    """The queue of requests of one session screen; `answer` takes the replies to the core."""

    def __init__(
        self,
        screen: Screen[None],
        prompt: Prompt,
        card: RequestCard,
        cover: TooSmall,
        chrome: Chrome,
        answer: Callable[[str, Reply], None],
        clock: Callable[[], float],
        launch: Launch,
    ) -> None:
        self._screen = screen
        self._prompt = prompt
        self._card = card
        self._cover = cover
        self._chrome = chrome
        self._answer = answer
        self._clock = clock
        self._launch = launch
        self._deferral = Deferral()
        self._changed = asyncio.Event()
        self._queue: list[Request] = []
        self._done = 0
        """Requests answered since none waited."""
        self._dialog: ApprovalScreen | None = None
        self._timer: Timer | None = None
        self._closed_at = float("-inf")

    @property
    def has_just_closed(self) -> bool:
        return self._clock() - self._closed_at < ESCAPE_PAUSE

    @property
    def has_requests(self) -> bool:
        return bool(self._queue)

    @property
    def is_asking(self) -> bool:
        """Whether a request is open before the person."""
        return self._dialog is not None

    def opened(self, request: Request) -> None:
        self._queue.append(request)
        self.consider()

    def closed(self, request_id: str) -> None:
        self._remove(request_id)
        if self._dialog is not None and self._dialog.request.id == request_id:
            self._dialog.withdraw()
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
        if self._queue and self._dialog is None and not self._has_no_room:
            self._open()

    def consider(self) -> None:
        """Open the first request if nothing stands against it, else show a card and look again later."""
        self._stop_timer()
        self._changed.set()
        if self._queue and self._dialog is None:
            wait = self._wait()
            if wait == 0:
                self._open()
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

    def _open(self) -> None:
        # The dialog and its parts took a tenth of the time to the first paint, which needs none of them.
        from coder_tui.ui.external_editor import ExternalEditor
        from coder_tui.ui.screens.approval import ApprovalScreen

        editor = ExternalEditor(os.environ, self._launch.edits, self._launch.directory)
        edit = partial(editor.edit, self._screen.app)
        self._dialog = ApprovalScreen(self._queue[0], self._chrome, self._prompt.type_text, self._clock, edit)
        self._show_queue()
        self._screen.run_worker(self._present(self._dialog), group="requests")

    async def _present(self, dialog: "ApprovalScreen") -> None:
        closed = await self._screen.app.push_screen_wait(dialog)
        self._dialog = None
        self._closed_at = self._clock()
        if closed.reply is not None:
            self._done += 1
            self._remove(dialog.request.id)
            self._answer(dialog.request.id, closed.reply)
        self.consider()

    @property
    def _has_no_room(self) -> bool:
        return TooSmall.is_too_small(self._screen.size)

    def _remove(self, request_id: str) -> None:
        self._queue = [request for request in self._queue if request.id != request_id]
        if not self._queue:
            self._done = 0

    def _show_queue(self) -> None:
        is_open = self._dialog is not None
        self._card.show(tuple(self._queue[1:] if is_open else self._queue))
        self._cover.show_waiting(bool(self._queue))
        if self._dialog is not None:
            total = self._done + len(self._queue)
            place = f"{self._done + 1} of {total}" if total > 1 else ""
            self._dialog.show_queue(place, tuple(self._queue[1:]))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
