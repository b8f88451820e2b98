"""One sub-agent: works in a conversation of its own until it says its last word."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.profiles import Profile
from coder_tui.agent.subagent_meter import SubagentMeter
from coder_tui.agent.to_the_end import to_the_end
from coder_tui.agent.turn import Turn, TurnEnd, TurnServices
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.events import TurnStarted
from coder_tui.protocol.messages import AssistantMessage
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.subagents import ChildState

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
