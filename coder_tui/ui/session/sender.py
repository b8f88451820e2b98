"""Sends what the person typed to the session, also before it is ready or while it is busy."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from coder_tui.protocol.access import Mode
from coder_tui.ui.chrome.banners import QueueLine
from coder_tui.ui.prompt.prompt import Prompt

if TYPE_CHECKING:
    from coder_tui.agent.event_bus import Listener
    from coder_tui.agent.session import Session
    from coder_tui.protocol.requests import Reply


# From `auto`, which only a command switches on, the first press goes back to asking.
_NEXT_MODE = {Mode.ASK: Mode.EDITS, Mode.EDITS: Mode.PLAN, Mode.PLAN: Mode.ASK, Mode.AUTO: Mode.ASK}


class Conversation:
    """`start` runs a turn as a worker of the screen."""

    def __init__(
        self, prompt: Prompt, queue: QueueLine, start: Callable[[Coroutine[None, None, None]], object]
    ) -> None:
        self._prompt = prompt
        self._queue = queue
        self._start = start
        self._session: Session | None = None
        self._deaf: list[Callable[[], None]] = []
        self._early: list[str] = []
        self._holds = 0
        self._early_modes = 0
        self._unstored: list[str] = []

    @property
    def session(self) -> "Session | None":
        return self._session

    @property
    def unsent(self) -> tuple[str, ...]:
        """What was entered, and is written down nowhere yet."""
        return (*self._unstored, *self._early)

    @property
    def is_held(self) -> bool:
        """Whether what is sent waits for the end of a command."""
        return self._holds > 0

    @property
    def is_busy(self) -> bool:
        return self.is_held or (self._session is not None and self._session.is_busy)

    def attach(self, session: "Session", *listeners: "Listener") -> None:
        """The session is ready: what was entered meanwhile goes out in order, and `listeners` hear of it."""
        self._session = session
        self._deaf = [session.subscribe(listener) for listener in listeners]
        # The mode first: what was sent meanwhile was meant for the chosen one.
        for _ in range(self._early_modes):
            self.next_mode()
        self._early_modes = 0
        self._send_early()

    def hold(self, *texts: str) -> None:
        """Until `go_on` what is sent waits, behind `texts`: the conversation is about to be another."""
        self._holds += 1
        for text in texts:
            self.send(text)

    def go_on(self) -> None:
        """One `hold` is over; after the last one everything goes out in order."""
        self._holds -= 1
        self._send_early()

    def move(self) -> tuple[str, ...]:
        """What waits is sent by another screen from here on."""
        early, self._early = tuple(self._early), []
        return early

    def at_detaching(self, end: Callable[[], None]) -> None:
        """Called when the session is left to another screen."""
        self._deaf.append(end)

    def detach(self) -> None:
        """Nothing more is heard of the session: another screen shows it."""
        while self._deaf:
            self._deaf.pop()()

    def send(self, text: str) -> None:
        if self._session is None or self._holds:
            self._early.append(text)
            self._queue.show(tuple(self._early))
            return
        self._unstored.append(text)
        self._start(self._session.submit(text))

    def stored(self, text: str) -> None:
        """The session has written a message down; it cannot be lost any more."""
        if text in self._unstored:
            self._unstored.remove(text)

    def failed(self) -> None:
        """The turn ended before these messages were stored: back into the draft with them."""
        if self._session is not None:
            self._session.take_queue()  # they are among the unstored ones
        texts, self._unstored = tuple(self._unstored), []
        if texts:
            self._prompt.put_back(texts)

    def interrupt(self) -> bool:
        """Stop the running turn; what waits returns to the draft. False when there was nothing of either."""
        if self._session is None or not self.is_busy:
            return False
        has_returned = self.take_back()
        return self._session.interrupt() or has_returned

    def answer(self, request_id: str, reply: "Reply") -> None:
        from coder_tui.protocol.requests import cancels_turn

        if self._session is None:
            return
        if cancels_turn(reply):
            self.take_back()
        self._session.answer(request_id, reply)

    def next_mode(self) -> None:
        if self._session is None:
            self._early_modes += 1
        else:
            self._session.set_mode(_NEXT_MODE[self._session.mode])

    def set_mode(self, mode: Mode) -> None:
        if self._session is not None:
            self._session.set_mode(mode)

    def take_back(self) -> bool:
        """What waits for the turn or a command returns to the draft; False where nothing does."""
        queued = self._session.take_queue() if self._session is not None else ()
        for text in queued:
            self.stored(text)
        return self._return((*queued, *self.move()))

    def take_back_held(self) -> bool:
        """What waits for a command returns to the draft; what is queued for a turn stays so."""
        return self._return(self.move())

    def _return(self, waiting: tuple[str, ...]) -> bool:
        if waiting:
            self._queue.show(())
            self._prompt.put_back(waiting)
        return bool(waiting)

    def _send_early(self) -> None:
        if self._holds or self._session is None:
            return
        if early := self.move():
            self._queue.show(())
        for text in early:
            self.send(text)
