"""Run sub-agents for a call: each works in its own conversation and ends with the call at the latest."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles.profiles import Profile, Profiles
from coder_tui.agent.turn.limits import Limits
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.turn import Turn, TurnEnd, TurnServices
from coder_tui.agent.turn.usage import SubagentMeter, UsageMeter
from coder_tui.agent.undo.replay import replay
from coder_tui.llm.providers import is_same_provider
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.child_progress import first_line, initial_line, updated_line
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
from coder_tui.tasks import finish_despite_cancel
from coder_tui.tools.builtin.subagents import TOGETHER
from coder_tui.tools.ports import SubResult, SubTask

NUDGE = (
    "You ended without task_finish, so nothing of your work would come back. "
    "Go on if something is left to do; then call task_finish with your summary."
)
INCOMPLETE = "Incomplete: the sub-agent ended without a summary of its own."
LAST_WORDS = 4000
"""Characters of its last reply, used if it gave no summary."""


GO_ON = "One of the user's hooks wants something more; then call task_finish again. It says:"
MayNotEnd = Callable[[str], Awaitable[str]]


@dataclass(slots=True)
class SubagentSummary:
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
class Subagent:
    """`services` are its own: bus, conversation, tools and meter."""

    id: str
    agent: str
    profile: Profile
    bus: EventBus
    meter: SubagentMeter
    may_not_end: MayNotEnd
    """Asked once, by its name, when it has said its last word; gives a reason to go on, or none."""
    result: SubagentSummary = field(default_factory=SubagentSummary)

    def early_end(self) -> TurnEnd | None:
        """Return why it ends between two steps, apart from the limits that apply to all agents."""
        most = self.profile.max_steps
        if self.result.summary is not None:
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
            await finish_despite_cancel(turn.settle())
            raise

    async def _converse(self, objective: str, turn: Turn, services: TurnServices) -> Ending:
        end = await turn.run(objective)
        if end.outcome is TurnOutcome.DONE and self.result.summary is None:
            end = await turn.run(NUDGE)
        if self.result.summary is not None and (reason := await self.may_not_end(self.agent)):
            before, self.result.summary = self.result.summary, None
            end = await turn.run(f"{GO_ON}\n\n{reason}")
            self.result.summary = self.result.summary or before
        if self.result.summary is not None:
            return Ending(ChildState.OK if self.result.ok else ChildState.FAILED, self.result.summary)
        return Ending(ChildState.FAILED, self._unfinished(end.message or INCOMPLETE, services))

    def _unfinished(self, reason: str, services: TurnServices) -> str:
        said = (
            message.text
            for message in services.context.conversation.backwards
            if isinstance(message, AssistantMessage) and message.text.strip()
        )
        last = next(said, "")[-LAST_WORDS:]
        return f"{reason} It said last: {last}" if last else reason


STOPPED_BY_USER = "Stopped by the user; it may have done part of its work."
STOPPED_WITH_PARENT = "Stopped together with the call that started it."


@dataclass(frozen=True, slots=True)
class SubagentContext:
    """What sub-agents have from their session; `build` puts a child's tools and conversation together."""

    session_id: str
    store: Store
    bus: EventBus
    meter: UsageMeter
    limits: Limits
    profiles: Profiles
    choice: Callable[[], ModelChoice]
    may_not_end: MayNotEnd
    build: Callable[[Subagent, ModelChoice], TurnServices]


@dataclass(slots=True)
class _RunningChild:
    """A sub-agent among its siblings."""

    call_id: str
    task: SubTask
    child: Subagent
    services: TurnServices
    line: ChildLine
    is_stopped: bool = False
    work: asyncio.Task[SubResult] | None = None


@dataclass(slots=True)
class Subagents:
    """The `SubagentRunner` of one session."""

    family: SubagentContext
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(TOGETHER))
    _places: dict[str, _RunningChild] = field(default_factory=dict)

    @property
    def agents(self) -> Mapping[str, str]:
        return {profile.name: profile.description for profile in self.family.profiles.serving}

    async def lines(self) -> tuple[ChildLine, ...]:
        """All of the session in the order in which they were asked for, those under way as they are now."""
        stored = await self.family.store.subagents.list(self.family.session_id)
        live = {child_id: place.line for child_id, place in self._places.items()}
        return tuple(live.get(line.child_id, line) for line in stored)

    def stop(self, child_id: str) -> bool:
        """Stop one sub-agent; the others go on. Return False if it does not run."""
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
        return tuple(_as_running(event, stored) for event in replay(stored))

    async def run(self, call_id: str, tasks: tuple[SubTask, ...]) -> tuple[SubResult, ...]:
        places: list[_RunningChild] = []
        works: list[asyncio.Task[SubResult]] = []
        try:
            for task, name in zip(tasks, _names(tasks), strict=True):
                places.append(await finish_despite_cancel(self._add(call_id, task, name)))
            for place in places:
                place.work = asyncio.create_task(self._run_child(place))
                works.append(place.work)
            # A child that fails says so in its result: what is raised here is the store's, and ends them all.
            await asyncio.wait(works, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            # Not only `places`: one may have been made while this was cancelled.
            mine = [place for place in self._places.values() if place.call_id == call_id]
            await finish_despite_cancel(self._end_all(mine))
        return tuple(work.result() for work in works)

    async def _add(self, call_id: str, task: SubTask, agent: str) -> _RunningChild:
        family = self.family
        profile = next(profile for profile in family.profiles.serving if profile.name == task.agent)
        choice = self._choice(task, profile)
        child_id = await family.store.subagents.add(
            family.session_id, call_id, agent, first_line(task.objective), choice.name
        )
        bus = EventBus()
        meter = SubagentMeter(family.store.usage, bus, child_id, family.meter)
        child = Subagent(child_id, agent, profile, bus, meter, family.may_not_end)
        started = SubagentStarted(task.objective, choice.name)
        services = family.build(child, choice)
        place = _RunningChild(call_id, task, child, services, initial_line(child_id, agent, started))
        self._places[child_id] = place
        bus.subscribe(lambda event: self._forward(place, event))
        self._publish(place, started)
        return place

    def is_elsewhere(self, model: str) -> bool:
        return bool(model) and not is_same_provider(model, self.family.choice().name)

    def _choice(self, task: SubTask, profile: Profile) -> ModelChoice:
        """The task's model, else the profile's, else the one that the parent works with."""
        own = self.family.choice()
        name = task.model or profile.model
        return own if not name or name == own.name else own.helped_by(name)

    async def _run_child(self, place: _RunningChild) -> SubResult:
        began = time.monotonic()
        try:
            async with self.slots:
                began = time.monotonic()
                ending = await self._work(place)
        except asyncio.CancelledError:
            if not place.is_stopped:
                await finish_despite_cancel(
                    self._end(place, Ending(ChildState.STOPPED, STOPPED_WITH_PARENT), began)
                )
                raise
            ending = Ending(ChildState.STOPPED, STOPPED_BY_USER)
        return await finish_despite_cancel(self._end(place, ending, began))

    async def _work(self, place: _RunningChild) -> Ending:
        family = self.family
        if limit := family.limits.exceeded(family.meter.steps):
            return Ending(ChildState.FAILED, f"It was not started. {limit}")
        return await place.child.work(place.task.objective, place.services)

    async def _end_all(self, places: list[_RunningChild]) -> None:
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

    async def _end(self, place: _RunningChild, ending: Ending, began: float) -> SubResult:
        duration = time.monotonic() - began
        await self.family.store.subagents.end(place.child.id, ending.state, ending.summary, round(duration))
        self._publish(place, SubagentFinished(ending.state, ending.summary, round(duration * 1000)))
        return SubResult(place.child.profile.name, ending.state is ChildState.OK, ending.summary, place.line)

    def _forward(self, place: _RunningChild, event: Event) -> None:
        """Publish changed files and warnings for the whole session, everything else as the sub-agent's."""
        if isinstance(event, FilesChanged | DiagnosticsChanged | Notice):
            self.family.bus.publish(event)
        else:
            self._publish(place, event)

    def _publish(self, place: _RunningChild, event: ChildEvent) -> None:
        place.line = updated_line(place.line, event)
        child = place.child
        self.family.bus.publish(SubagentEvent(place.call_id, child.id, child.agent, event))


def _as_running(event: Event, stored: StoredSession) -> Event:
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
