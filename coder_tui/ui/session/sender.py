"""Sends what the user typed to the session, also before it is ready or while it is busy."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from textual.timer import Timer

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, QueueChanged, TurnFailed, TurnFinished, UserMessageAdded
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Reply, cancels_turn
from coder_tui.storage.drafts import DraftStore, Place, UnsentInput
from coder_tui.ui.chrome.banners import QueueLine
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.transcript.transcript import Transcript

if TYPE_CHECKING:
    from coder_tui.agent.event_bus import Listener
    from coder_tui.agent.session import Session
    from coder_tui.ui.session.screen import SessionScreen


# From `auto`, which only a command switches on, the first press goes back to asking.
_NEXT_MODE = {Mode.ASK: Mode.EDITS, Mode.EDITS: Mode.PLAN, Mode.PLAN: Mode.ASK, Mode.AUTO: Mode.ASK}


class MessageSender:
    """`start` runs a turn as a worker of the screen."""

    def __init__(
        self, prompt: Prompt, queue: QueueLine, start: Callable[[Coroutine[None, None, None]], object]
    ) -> None:
        self._prompt = prompt
        self._queue = queue
        self._start = start
        self.session: Session | None = None
        self._unsubscribers: list[Callable[[], None]] = []
        self._waiting: list[str] = []
        self._holds = 0
        self._waiting_modes = 0
        self._unstored: list[str] = []

    @property
    def unstored(self) -> tuple[str, ...]:
        """What was entered and is not stored yet."""
        return (*self._unstored, *self._waiting)

    @property
    def is_paused(self) -> bool:
        """Whether messages wait for the end of a command."""
        return self._holds > 0

    @property
    def is_busy(self) -> bool:
        return self.is_paused or (self.session is not None and self.session.is_busy)

    def attach(self, session: "Session", *listeners: "Listener") -> None:
        """Subscribe `listeners` to the session, and send what was entered before it was ready."""
        self.session = session
        self._unsubscribers = [session.subscribe(listener) for listener in listeners]
        # The mode first: waiting messages were meant for the chosen one.
        for _ in range(self._waiting_modes):
            self.next_mode()
        self._waiting_modes = 0
        self._send_waiting()

    def pause(self, *texts: str) -> None:
        """Let messages wait until `resume`, behind `texts`: another conversation is about to be shown."""
        self._holds += 1
        for text in texts:
            self.send(text)

    def resume(self) -> None:
        """End one `pause`; after the last one, send everything in order."""
        self._holds -= 1
        self._send_waiting()

    def hand_over(self) -> tuple[str, ...]:
        """Return the waiting messages, for another screen to send."""
        waiting, self._waiting = tuple(self._waiting), []
        return waiting

    def on_detach(self, end: Callable[[], None]) -> None:
        """Register a function to call when another screen takes over the session."""
        self._unsubscribers.append(end)

    def detach(self) -> None:
        """Unsubscribe from the session: another screen shows it."""
        while self._unsubscribers:
            self._unsubscribers.pop()()

    def send(self, text: str) -> None:
        if self.session is None or self._holds:
            self._waiting.append(text)
            self._queue.show(tuple(self._waiting))
            return
        self._unstored.append(text)
        self._start(self.session.submit(text))

    def mark_stored(self, text: str) -> None:
        """Forget a message that the session has stored: it cannot be lost any more."""
        if text in self._unstored:
            self._unstored.remove(text)

    def return_unstored(self) -> None:
        """Return messages to the draft if the turn ended before they were stored."""
        if self.session is not None:
            self.session.withdraw_queued()  # they are among the unstored ones
        texts, self._unstored = tuple(self._unstored), []
        if texts:
            self._prompt.put_back(texts)

    def interrupt(self) -> bool:
        """Stop the turn and return waiting messages to the draft; return False if there was neither."""
        if self.session is None or not self.is_busy:
            return False
        has_returned = self.return_waiting()
        return self.session.interrupt() or has_returned

    def answer(self, request_id: str, reply: Reply) -> None:
        if self.session is None:
            return
        if cancels_turn(reply):
            self.return_waiting()
        self.session.answer(request_id, reply)

    def next_mode(self) -> None:
        if self.session is None:
            self._waiting_modes += 1
        else:
            self.session.set_mode(_NEXT_MODE[self.session.mode])

    def set_mode(self, mode: Mode) -> None:
        if self.session is not None:
            self.session.set_mode(mode)

    def return_waiting(self) -> bool:
        """Return to the draft what waits for the turn or a command; return False if nothing waits."""
        queued = self.session.withdraw_queued() if self.session is not None else ()
        for text in queued:
            self.mark_stored(text)
        return self._put_back((*queued, *self.hand_over()))

    def return_held(self) -> bool:
        """Return to the draft what waits for a command; what is queued for a turn stays queued."""
        return self._put_back(self.hand_over())

    def _put_back(self, waiting: tuple[str, ...]) -> bool:
        if waiting:
            self._queue.show(())
            self._prompt.put_back(waiting)
        return bool(waiting)

    def _send_waiting(self) -> None:
        if self._holds or self.session is None:
            return
        if waiting := self.hand_over():
            self._queue.show(())
        for text in waiting:
            self.send(text)


PAUSE = 1.0
"""Seconds between two writes, however fast the user types."""
RESTORED = "Your unsent text is back in the prompt."


class DraftSaver:
    """Serves one screen. It saves nothing before `begin` and nothing after `stop`."""

    def __init__(self, screen: "SessionScreen", sender: MessageSender, transcript: Transcript) -> None:
        self._screen = screen
        self._sender = sender
        self._transcript = transcript
        self._files = DraftStore(folder) if (folder := screen.launch.drafts) is not None else None
        self._session: Session | None = None
        self._is_begun = False
        self.is_restored = asyncio.Event()
        self._saved = UnsentInput()
        self._writing = asyncio.Lock()
        self._timer: Timer | None = None
        self._has_warned = False

    def begin(self, session: "Session", *, is_again: bool, is_begun: bool) -> None:
        """Save what is typed from now on, and restore what was left, unless the session `is_again` shown.

        `is_begun` is whether the session has messages.
        """
        self._is_begun = is_begun
        if is_again:
            self._follow(session)
        else:
            self._screen.run_worker(self._restore(session), group="recall")

    async def _restore(self, session: "Session") -> None:
        try:
            if self._files is not None and session.is_kept:
                await self._restore_text(self._files, self._place(session))
        except (OSError, UserError) as error:
            self._warn_once(error)
        finally:
            self.is_restored.set()
        self._follow(session)

    def _follow(self, session: "Session") -> None:
        self._session = session
        self.schedule_save()

    async def _restore_text(self, files: DraftStore, place: Place) -> None:
        elsewhere = await self._screen.launch.library().open_elsewhere()
        self._saved = left = await asyncio.to_thread(files.take, place, elsewhere)
        if not left.is_empty:
            self._screen.prompt.put_back((*left.waiting, left.draft) if left.draft else left.waiting)
            self._transcript.add_note(NoticeLevel.INFO, RESTORED)

    def schedule_save(self) -> None:
        """Save in a moment, if anything has changed by then."""
        if self._files is not None and self._session is not None and self._timer is None:
            self._timer = self._screen.set_timer(PAUSE, self._save_later)

    def handle_event(self, event: Event) -> None:
        if isinstance(event, UserMessageAdded):
            self._is_begun = True
            self.schedule_save()
        elif isinstance(event, QueueChanged | TurnFinished | TurnFailed):
            self.schedule_save()

    async def save_now(self) -> None:
        """Save the present text, for instance because the program is about to end."""
        async with self._writing:
            now = self._now()
            session = self._session
            if self._files is None or session is None or not session.is_kept or now == self._saved:
                return
            try:
                await asyncio.to_thread(self._files.save, self._place(session), now)
            except OSError as error:
                self._warn_once(error)
            self._saved = now

    def stop(self) -> None:
        """Leave saving to another screen."""
        self._session = None

    async def forget(self, session: "Session") -> None:
        """Delete what was saved: the text moved to another session."""
        if self._files is not None:
            await asyncio.to_thread(self._files.forget, session.id)

    def _save_later(self) -> None:
        self._timer = None
        self._screen.run_worker(self.save_now(), group="unsent")

    def _now(self) -> UnsentInput:
        return UnsentInput(self._sender.unstored, self._screen.prompt.draft)

    def _place(self, session: "Session") -> Place:
        return Place(session.id, session.directory, self._is_begun)

    def _warn_once(self, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            message = f"Your draft cannot be saved until it is sent: {why}."
            self._transcript.add_note(NoticeLevel.WARNING, message)
