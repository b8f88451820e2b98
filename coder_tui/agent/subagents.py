"""Sub-agents of a session: started for a call, followed, stopped, and gone when the call ends.

One sub-agent: works in a conversation of its own until it says its last word.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import Profile, Profiles
from coder_tui.agent.turn.limits import Limits
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.turn import Turn, TurnEnd, TurnServices
from coder_tui.agent.turn.usage import SubagentMeter, UsageMeter
from coder_tui.agent.undo.replay import replay
from coder_tui.llm.providers import is_same_provider
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.child_progress import begun, first_line, followed
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.events import (
    ChildEvent,
    DiagnosticsChanged,
    Event,
    FilesChanged,
    Notice,
    SubagentEvent,
    SubagentFinished,
    SubagentStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from coder_tui.protocol.messages import AssistantMessage
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.storage.store import Store, StoredSession
from coder_tui.tasks import to_the_end
from coder_tui.tools.builtin.subagents import TOGETHER
from coder_tui.tools.ports import SubResult, SubTask

NUDGE = (
    "You ended without task_finish, so nothing of your work would come back. "
    "Go on if something is left to do; then call task_finish with your summary."
)
INCOMPLETE = "Incomplete: the sub-agent ended without a summary of its own."
LAST_WORDS = 4000
"""Characters of what it said last, where it gave no summary."""


GO_ON = "A hook of the person's wants something more; then call task_finish again. It says:"
MayNotEnd = Callable[[str], Awaitable[str]]


async def may_end(agent: str) -> str:
    return ""


@dataclass(slots=True)
class LastWord:
    """The `Finisher` of one sub-agent; the newest word counts."""

    summary: str | None = None
    ok: bool = False

    def finish(self, summary: str, *, ok: bool) -> None:
        self.summary, self.ok = summary, ok


@dataclass(frozen=True, slots=True)
class Ending:
    state: ChildState
    summary: str


@dataclass(slots=True)
class Child:
    """`services` are its own: bus, conversation, tools and meter."""

    id: str
    agent: str
    profile: Profile
    bus: EventBus
    meter: SubagentMeter
    word: LastWord = field(default_factory=LastWord)
    may_not_end: MayNotEnd = may_end
    """Asked once, by its name, when it has said its last word; gives a reason to go on, or none."""

    def over(self) -> TurnEnd | None:
        """What ends its work between two steps, besides the limits that hold for all."""
        most = self.profile.max_steps
        if self.word.summary is not None:
            return TurnEnd(TurnOutcome.DONE)
        if most is not None and self.meter.own_steps >= most:
            return TurnEnd(TurnOutcome.LIMIT, f"Stopped after {most} model calls, the limit of this agent.")
        return None

    async def work(self, objective: str, services: TurnServices) -> Ending:
        """To the end, whatever that is; only a cancellation and a broken store get through."""
        minutes, turn = self.profile.max_minutes, Turn(services)
        self.bus.publish(TurnStarted(1))
        try:
            async with asyncio.timeout(None if minutes is None else minutes * 60):
                return await self._converse(objective, turn, services)
        except TimeoutError:
            await turn.settle()
            limit = f"Stopped after {minutes:g} minutes, the limit of this agent."
            return Ending(ChildState.FAILED, self._unfinished(limit, services))
        except ModelError as error:
            await turn.close_open_calls("the sub-agent failed before this call ended; it may have run")
            return Ending(ChildState.FAILED, f"The model did not answer: {error}")
        except asyncio.CancelledError:
            await to_the_end(turn.settle())
            raise

    async def _converse(self, objective: str, turn: Turn, services: TurnServices) -> Ending:
        end = await turn.run(objective)
        if end.outcome is TurnOutcome.DONE and self.word.summary is None:
            end = await turn.run(NUDGE)
        if self.word.summary is not None and (reason := await self.may_not_end(self.agent)):
            before, self.word.summary = self.word.summary, None
            end = await turn.run(f"{GO_ON}\n\n{reason}")
            self.word.summary = self.word.summary or before
        if self.word.summary is not None:
            return Ending(ChildState.OK if self.word.ok else ChildState.FAILED, self.word.summary)
        return Ending(ChildState.FAILED, self._unfinished(end.message or INCOMPLETE, services))

    def _unfinished(self, reason: str, services: TurnServices) -> str:
        said = (
            message.text
            for message in services.conversation.backwards
            if isinstance(message, AssistantMessage) and message.text.strip()
        )
        last = next(said, "")[-LAST_WORDS:]
        return f"{reason} It said last: {last}" if last else reason


STOPPED_BY_PERSON = "Stopped by the person; it may have done part of its work."
STOPPED_WITH_PARENT = "Stopped together with the call that started it."


@dataclass(frozen=True, slots=True)
class Family:
    """What sub-agents have from their session; `furnish` puts a child's tools and conversation together."""

    session_id: str
    store: Store
    bus: EventBus
    meter: UsageMeter
    limits: Limits
    profiles: Profiles
    choice: Callable[[], ModelChoice]
    furnish: Callable[[Child, ModelChoice], TurnServices]


@dataclass(slots=True)
class _Place:
    """A sub-agent among its siblings."""

    call_id: str
    task: SubTask
    child: Child
    services: TurnServices
    line: ChildLine
    is_stopped: bool = False
    work: asyncio.Task[SubResult] | None = None


class ChildDesk(Protocol):
    """What a front end does with sub-agents."""

    async def lines(self) -> tuple[ChildLine, ...]:
        """All that were asked for, in order."""

    def stop(self, child_id: str) -> bool: ...

    async def events(self, child_id: str) -> tuple[Event, ...]: ...


class NoChildren:
    """For a session whose agent starts no others."""

    async def lines(self) -> tuple[ChildLine, ...]:
        return ()

    def stop(self, child_id: str) -> bool:
        return False

    async def events(self, child_id: str) -> tuple[Event, ...]:
        return ()


@dataclass(slots=True)
class Subagents:
    """The `SubagentRunner` of one session."""

    family: Family
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TOGETHER))
    _places: dict[str, _Place] = field(default_factory=dict)

    @property
    def agents(self) -> Mapping[str, str]:
        return {profile.name: profile.description for profile in self.family.profiles.serving}

    async def lines(self) -> tuple[ChildLine, ...]:
        """All of the session in the order in which they were asked for, those under way as they are now."""
        stored = await self.family.store.children(self.family.session_id)
        live = {child_id: place.line for child_id, place in self._places.items()}
        return tuple(live.get(line.child_id, line) for line in stored)

    def stop(self, child_id: str) -> bool:
        """Stop one alone; its siblings go on. False where it does not run."""
        place = self._places.get(child_id)
        if place is None or place.work is None or place.work.done():
            return False
        if not place.is_stopped:
            place.is_stopped = True
            place.work.cancel()
        return True

    async def events(self, child_id: str) -> tuple[Event, ...]:
        """All that one said and did so far, as it is stored."""
        stored = await self.family.store.load(child_id)
        if child_id not in self._places:
            return tuple(replay(stored))
        return tuple(_as_it_is(event, stored) for event in replay(stored))

    async def run(self, call_id: str, tasks: tuple[SubTask, ...]) -> tuple[SubResult, ...]:
        places: list[_Place] = []
        works: list[asyncio.Task[SubResult]] = []
        try:
            for task, name in zip(tasks, _names(tasks), strict=True):
                places.append(await to_the_end(self._place(call_id, task, name)))
            for place in places:
                place.work = asyncio.create_task(self._play(place))
                works.append(place.work)
            # A child that fails says so in its result: what is raised here is the store's, and ends them all.
            await asyncio.wait(works, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            # Not only `places`: one may have been made while this was cancelled.
            mine = [place for place in self._places.values() if place.call_id == call_id]
            await to_the_end(self._end_all(mine))
        return tuple(work.result() for work in works)

    async def _place(self, call_id: str, task: SubTask, agent: str) -> _Place:
        family, profile = self.family, self._profile(task.agent)
        choice = self._choice(task, profile)
        child_id = await family.store.add_child(
            family.session_id, call_id, agent, first_line(task.objective), choice.name
        )
        bus = EventBus()
        child = Child(child_id, agent, profile, bus, SubagentMeter(family.store, bus, child_id, family.meter))
        started = SubagentStarted(task.objective, choice.name)
        services = family.furnish(child, choice)
        place = _Place(call_id, task, child, services, begun(child_id, agent, started))
        self._places[child_id] = place
        bus.subscribe(lambda event: self._hear(place, event))
        self._tell(place, started)
        return place

    def is_elsewhere(self, model: str) -> bool:
        return bool(model) and not is_same_provider(model, self.family.choice().name)

    def _profile(self, name: str) -> Profile:
        return next(profile for profile in self.family.profiles.serving if profile.name == name)

    def _choice(self, task: SubTask, profile: Profile) -> ModelChoice:
        """The task's model, else the profile's, else the one that the parent works with."""
        own = self.family.choice()
        name = task.model or profile.model
        if not name or name == own.name:
            return own
        # Another provider's key must not go to this server.
        is_same_server = is_same_provider(name, own.name)
        return ModelChoice(name, own.api_base if is_same_server else "")

    async def _play(self, place: _Place) -> SubResult:
        began = time.monotonic()
        try:
            async with self.room:
                began = time.monotonic()
                ending = await self._work(place)
        except asyncio.CancelledError:
            if not place.is_stopped:
                await to_the_end(self._end(place, Ending(ChildState.STOPPED, STOPPED_WITH_PARENT), began))
                raise
            ending = Ending(ChildState.STOPPED, STOPPED_BY_PERSON)
        return await to_the_end(self._end(place, ending, began))

    async def _work(self, place: _Place) -> Ending:
        family = self.family
        if limit := family.limits.exceeded(family.meter.steps):
            return Ending(ChildState.FAILED, f"It was not started. {limit}")
        return await place.child.work(place.task.objective, place.services)

    async def _end_all(self, places: list[_Place]) -> None:
        """None runs on, and none that was shown is left without an end."""
        works = [place.work for place in places if place.work is not None]
        for work in works:
            work.cancel()
        if works:
            await asyncio.wait(works)
        for place in places:
            if not place.line.state.is_over:  # stopped before its first step
                await self._end(place, Ending(ChildState.STOPPED, STOPPED_WITH_PARENT), time.monotonic())
            del self._places[place.child.id]

    async def _end(self, place: _Place, ending: Ending, began: float) -> SubResult:
        duration = time.monotonic() - began
        await self.family.store.end_child(place.child.id, ending.state, ending.summary, round(duration))
        self._tell(place, SubagentFinished(ending.state, ending.summary, round(duration * 1000)))
        return SubResult(place.child.profile.name, ending.state is ChildState.OK, ending.summary, place.line)

    def _hear(self, place: _Place, event: Event) -> None:
        """That files changed is news for everybody, whoever changed them; so is a warning."""
        if isinstance(event, FilesChanged | DiagnosticsChanged | Notice):
            self.family.bus.publish(event)
        else:
            self._tell(place, event)

    def _tell(self, place: _Place, event: ChildEvent) -> None:
        place.line = followed(place.line, event)
        child = place.child
        self.family.bus.publish(SubagentEvent(place.call_id, child.id, child.agent, event))


def _as_it_is(event: Event, stored: StoredSession) -> Event:
    """While an agent works, a call without a result is under way."""
    if not isinstance(event, ToolFinished):
        return event
    call = stored.calls.get(event.call_id)
    if call is None:
        return ToolStarted(event.call_id, event.tool, ToolKind.OTHER, "")
    if call.outcome is not None:
        return event
    return ToolStarted(event.call_id, call.record.tool, call.record.kind, call.record.summary)


def _names(tasks: tuple[SubTask, ...]) -> Iterator[str]:
    """Each by its agent; those of one agent are numbered."""
    counts, seen = Counter(task.agent for task in tasks), Counter[str]()
    for task in tasks:
        seen[task.agent] += 1
        yield task.agent if counts[task.agent] == 1 else f"{task.agent} {seen[task.agent]}"
