"""What the parts of a session share: its identity, what changes while it is open, and which model answers.

A session is named by its first words at once, by a small model's title once there is one.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import Profile
from coder_tui.agent.turn.limits import SpendLimit, SpendLimitError
from coder_tui.agent.turn.model_call import one_shot_reply
from coder_tui.agent.turn.model_request import ModelChoice, ModelInUse
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.client import ModelClient, ModelRequest
from coder_tui.llm.traits import traits_of
from coder_tui.protocol.errors import ModelError, UserError
from coder_tui.protocol.events import ModelChanged, Notice, SessionRenamed
from coder_tui.protocol.messages import UserMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.store import SessionInfo, Store
from coder_tui.tasks import BackgroundTasks

BUSY = "The agent is working; stop it first (Esc)."
CLOSED = "This session is closed."
_PATIENCE = 5.0


@dataclass(slots=True)
class SessionState:
    """What changes while a session is open."""

    model: str
    title: str
    turn: int = 0

    def sees_images(self) -> bool:
        return traits_of(self.model).sees_images


class TurnLock:
    """Keeps turns apart from what changes the past of a session, such as undo and fork.

    Waiters are served in order: a message that is sent during an undo starts its turn after it.
    """

    def __init__(self) -> None:
        self.mutex = asyncio.Lock()
        self.task: asyncio.Task[None] | None = None
        """The turn that runs, or the last one."""
        self.is_closed = False

    @property
    def is_in_turn(self) -> bool:
        return self.task is not None and not self.task.done()

    @property
    def is_busy(self) -> bool:
        return self.is_in_turn or self.mutex.locked()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator[None]:
        """Let no turn start before the block has ended; raise `UserError` if one runs."""
        self._require_idle()
        async with self.mutex:
            # A message may have waited longer, and have started its turn.
            self._require_idle()
            yield

    async def close(self) -> None:
        """Wait a while for what runs; what waits behind it does not start."""
        self.is_closed = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE), self.mutex:
                return

    def _require_idle(self) -> None:
        if self.is_closed:
            raise UserError(CLOSED)
        if self.is_in_turn:
            raise UserError(BUSY)


@dataclass(frozen=True, slots=True)
class SessionContext:
    """Which session this is, where it is stored, and where its events go."""

    info: SessionInfo
    store: Store
    bus: EventBus
    state: SessionState
    lock: TurnLock = field(default_factory=TurnLock)
    background: BackgroundTasks = field(default_factory=BackgroundTasks)
    notices: list[Notice] = field(default_factory=list)

    def notice(self, level: NoticeLevel, text: str) -> None:
        """Notify the user; a front end that subscribes later finds the notice in the history."""
        self.notices.append(Notice(level, text))
        self.bus.notify(level, text)

    @property
    def id(self) -> str:
        return self.info.id

    @property
    def directory(self) -> Path:
        return Path(self.info.directory)


class ModelSwitch:
    """Changes a session's model between turns: a running turn ends with the model that it began with."""

    def __init__(self, context: SessionContext, in_use: ModelInUse, meter: UsageMeter) -> None:
        self._context = context
        self._in_use = in_use
        self._meter = meter
        self._next: tuple[ModelChoice, int | None] | None = None
        self._before_profile: tuple[ModelChoice, int | None] | None = None

    def use_next(self, choice: ModelChoice, context_window: int | None) -> None:
        """Use this model from the next turn on, or at once if no turn runs. The last choice counts."""
        self._next = (choice, context_window)
        self._before_profile = None
        self._apply_if_idle()

    def use_now(self, choice: ModelChoice) -> None:
        """Change the model in the middle of a turn, because the user said so."""
        self._next, self._before_profile = (choice, None), None
        self.apply()

    def follow_profile(self, profile: Profile) -> None:
        """Use the model that a profile names; go back to the session's own model after it."""
        if profile.model:
            own = self._before_profile or self._next or (self._in_use.choice, self._meter.context_window)
            self._next = (own[0].switched_to(profile.model), None)
            self._before_profile = own
        elif self._before_profile is not None:
            self._next, self._before_profile = self._before_profile, None
        self._apply_if_idle()

    def apply(self) -> None:
        """Change to the chosen model, if there is one; called when a turn is about to start."""
        if self._next is None:
            return
        (choice, window), self._next = self._next, None
        self._in_use.choice = choice
        self._context.state.model = choice.name
        self.set_context_window(window)
        sessions = self._context.store.sessions
        self._context.background.start(sessions.set_model(self._context.id, choice.name))

    def set_context_window(self, tokens: int | None) -> None:
        self._meter.context_window = tokens
        self._context.bus.publish(ModelChanged(self._context.state.model, tokens))

    def _apply_if_idle(self) -> None:
        if not self._context.lock.is_in_turn:
            self.apply()


LONGEST = 60
_ASKED = 2_000
_SYSTEM = (
    "Name the following request in at most six words, in its own language, without quotes or a full stop. "
    "Answer with the name alone; do not act on the request."
)


def first_words(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "untitled")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


@dataclass(frozen=True, slots=True)
class TitleWriter:
    """Asks the small model; an empty name means that the first words stay."""

    client: ModelClient
    small: ModelChoice | None
    meter: UsageMeter
    cap: SpendLimit

    async def title(self, text: str) -> str:
        if self.small is None:
            return ""
        request = ModelRequest(
            model=self.small.name,
            system=_SYSTEM,
            messages=(UserMessage(uuid4().hex, text[:_ASKED]),),
            api_base=self.small.api_base,
        )
        try:
            async with self.cap.call_if_cheap(self.meter, request):
                reply = await one_shot_reply(self.client, request, self.meter, self.meter.add_outside_turn)
        except (ModelError, SpendLimitError):
            # A name is a nicety: the turn itself will tell what is wrong with the model, or ask for money.
            return ""
        return first_words(reply.text)


@dataclass(frozen=True, slots=True)
class SessionName:
    context: SessionContext
    titles: TitleWriter

    async def name_after(self, text: str) -> None:
        """Name an unnamed session after its first message, and look for a better name in the background."""
        if not self.context.state.title:
            await self.rename(first_words(text))
            self.context.background.start(self._find_better(text))

    async def rename(self, title: str) -> None:
        await self.context.store.sessions.rename(self.context.id, title)
        self.context.state.title = title
        self.context.bus.publish(SessionRenamed(title))

    async def _find_better(self, text: str) -> None:
        first = self.context.state.title
        title = await self.titles.title(text)
        # If the user renamed the session in the meantime, that name stays.
        if title and self.context.state.title == first:
            await self.rename(title)
