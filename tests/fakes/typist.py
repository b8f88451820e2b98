"""Somebody who types into the real app while requests arrive; all in virtual time."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count

from textual import events

from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import ApprovalRequest, PlanRequest, QuestionRequest, Reply, Request
from coder_tui.ui.app import CoderApp
from coder_tui.ui.requests.guarded_screen import RequestScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.questions import plan, questions
from tests.fakes.sample_work import COMMAND, EDIT, FOREIGN, ROOT, SECRET
from tests.fakes.screens import Stage, launch_for
from tests.fakes.virtual_time import VirtualClock, VirtualTime, virtual_time

Typed = Sequence[tuple[str, float]]
"""Keys, each with the seconds before it."""

KINDS: dict[str, Request] = {
    "edit": EDIT,
    "command": COMMAND,
    "other": FOREIGN,
    "info": SECRET,
    "questions": questions(),
    "plan": plan(),
}
SETTLED = 5.0
_CHARACTERS = {"enter": "\r", "space": " "}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it: answers, and all text that arrived, sent or not, blanks left out."""

    answers: tuple[tuple[str, Reply], ...]
    text: str


class _TimedSession(FakeSession):
    """Notes when each answer came."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(ROOT)
        self.answered_at: list[float] = []
        self._clock = clock

    def answer(self, request_id: str, reply: Reply) -> None:
        self.answered_at.append(self._clock())
        super().answer(request_id, reply)


class Typist:
    """One app for any number of scenes; each begins with an empty prompt and no request."""

    def __init__(self, time: VirtualTime, stage: Stage, answered_at: list[float]) -> None:
        self.time = time
        self.answered_at = answered_at
        self.stage = stage
        self.over = 0
        """Keys of this scene that were pressed over a dialog."""
        self._numbers = count(1)
        self._open: list[str] = []

    def scene(self, kind: str, arrival: float, typed: Typed) -> Outcome:
        """The request arrives so many seconds after the first moment; then nothing for a while."""
        return self.time.run(self._scene(kind, arrival, typed))

    async def _scene(self, kind: str, arrival: float, typed: Typed) -> Outcome:
        await self.clear()
        arriving = asyncio.create_task(self._arrive(kind, arrival))
        for key, gap in typed:
            await asyncio.sleep(gap)
            self.press(key)
        await arriving
        await asyncio.sleep(SETTLED)
        answers = tuple(self.stage.session.answers)
        # A dialog gives back at its end what was typed into it.
        await self.withdraw()
        return Outcome(answers, self.text)

    async def _arrive(self, kind: str, arrival: float) -> None:
        await asyncio.sleep(arrival)
        self.ask(kind)

    def ask(self, kind: str) -> str:
        request = KINDS[kind]
        number = f"r{next(self._numbers)}"
        self._open.append(number)
        self.stage.session.emit(RequestOpened(_numbered(request, number)))
        return number

    def press(self, key: str) -> None:
        """As the terminal's reader does."""
        self.over += isinstance(self.stage.app.screen, RequestScreen)
        character = key if len(key) == 1 else _CHARACTERS.get(key)
        self.stage.app.post_message(events.Key("space" if key == " " else key, character))

    async def ready(self) -> RequestScreen[object]:
        """The open dialog, once it takes answers."""
        app = self.stage.app
        for _ in range(400):
            if isinstance(app.screen, RequestScreen) and app.screen.is_ready:
                await asyncio.sleep(0.05)  # painted, too
                return app.screen
            await asyncio.sleep(0.01)
        raise AssertionError("no dialog came, or it never got ready")

    @property
    def text(self) -> str:
        """All that was typed, sent or not, without blanks."""
        session = self.stage.session
        return "".join("".join((*session.submitted, *session._queue, self.stage.draft)).split())

    async def withdraw(self) -> None:
        for number in self._open:
            self.stage.session.emit(RequestClosed(number, None))
        self._open.clear()
        await asyncio.sleep(0.1)

    async def clear(self) -> None:
        """Withdraw what waits, empty the prompt, end the turn, and let a moment pass."""
        session, screen = self.stage.session, self.stage.screen
        await self.withdraw()
        session.withdraw_queued()
        session.interrupt()
        screen.prompt.show_draft("")
        screen.widgets.presenter.forget_cancelled()
        await asyncio.sleep(SETTLED)
        session.submitted.clear()
        session.answers.clear()
        self.answered_at.clear()
        self.over = 0
        assert self.stage.app.screen is screen, "a dialog stayed open"


def _numbered(request: Request, number: str) -> Request:
    match request:
        case ApprovalRequest():
            return replace(request, id=number, call_id=number)
        case QuestionRequest() | PlanRequest():
            return replace(request, id=number, call_id=number)


@contextmanager
def typist(size: tuple[int, int] = (140, 40)) -> Iterator[Typist]:
    with virtual_time() as time:
        session = _TimedSession(time.clock)
        app = CoderApp(replace(launch_for(session), has_motion=False))
        running = app.run_test(size=size)
        pilot = time.run(running.__aenter__())
        try:
            stage = Stage(app, pilot, session)
            time.run(stage.until(lambda: app.session_screen.widgets.sender.session is not None))
            yield Typist(time, stage, session.answered_at)
        finally:
            time.run(running.__aexit__(None, None, None))
