"""A whole core with a model that several agents ask, for tests of sub-agents."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from coder_tui.agent.hooks.runner import Hook
from coder_tui.agent.profiles.profiles import Profile
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.bootstrap.setup import Setup
from coder_tui.llm.client import RetryPolicy
from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import SubagentsBlock
from coder_tui.protocol.events import (
    Event,
    RequestOpened,
    SubagentEvent,
    SubagentFinished,
    ToolFinished,
    TurnFinished,
)
from coder_tui.protocol.messages import ToolMessage
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest
from coder_tui.storage.store import Store
from tests.fakes.branching_model import BranchingModel
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say

T = TypeVar("T")
DONE = Say("All done.")


def task(objective: str, agent: str = "general") -> Say:
    return Say(calls=(("task", {"agent": agent, "objective": objective}),))


def fork(*tasks: dict[str, str]) -> Say:
    return Say(calls=(("fork", {"tasks": list(tasks)}),))


def finish(summary: str, **more: Any) -> Say:
    return Say(calls=(("task_finish", {"summary": summary, **more}),))


def calls(tool: str, **arguments: Any) -> Say:
    return Say(calls=((tool, arguments),))


# Never the same call again: that would be asked about.
BUSY = [calls("glob", pattern=f"*{number}") for number in range(9)]


@dataclass
class Home:
    """A core with its events; requests wait in `asked` unless there are `answers`."""

    core: SessionFactory
    session: Session
    model: BranchingModel
    project: Path
    events: list[Event] = field(default_factory=list)
    answers: list[ApprovalReply] = field(default_factory=list)
    asked: asyncio.Queue[ApprovalRequest] = field(default_factory=asyncio.Queue)
    endings: asyncio.Queue[SubagentFinished] = field(default_factory=asyncio.Queue)

    def hear(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, SubagentEvent) and isinstance(event.event, SubagentFinished):
            self.endings.put_nowait(event.event)
        if isinstance(event, RequestOpened) and isinstance(event.request, ApprovalRequest):
            if self.answers:
                self.session.answer(event.request.id, self.answers.pop(0))
            else:
                self.asked.put_nowait(event.request)

    async def ended(self, count: int) -> None:
        """Wait until so many sub-agents have ended."""
        for _ in range(count):
            await self.endings.get()

    def of_children(self, kind: type[T]) -> list[T]:
        wrapped = (event.event for event in self.events if isinstance(event, SubagentEvent))
        return [event for event in wrapped if isinstance(event, kind)]

    def child_called(self, agent: str) -> str:
        return next(
            event.child_id
            for event in self.events
            if isinstance(event, SubagentEvent) and event.agent == agent
        )

    def outcome(self) -> TurnOutcome:
        """How the newest turn ended."""
        (*_, last) = (event for event in self.events if isinstance(event, TurnFinished))
        return last.outcome

    def errors(self, branch: str) -> list[dict[str, Any]]:
        """Return the errors in a child's calls, as its model got them."""
        return [json.loads(message.content)["error"] for message in self.results(branch)]

    def offered(self, branch: str) -> set[str]:
        """The tools that a child's model sees."""
        tools: list[dict[str, dict[str, str]]] = json.loads(json.dumps(self.model.requests[branch][-1].tools))
        return {tool["function"]["name"] for tool in tools}

    def results(self, branch: str) -> list[ToolMessage]:
        messages = self.model.requests[branch][-1].messages
        return [message for message in messages if isinstance(message, ToolMessage)]

    def result(self) -> dict[str, Any]:
        """Return what the parent got from its first call."""
        result: dict[str, Any] = json.loads(self.results("go")[0].content)
        return result

    def shown(self) -> SubagentsBlock:
        finished = next(event for event in self.events if isinstance(event, ToolFinished))
        assert isinstance(finished.display, SubagentsBlock)
        return finished.display


@asynccontextmanager
async def home(
    tmp_path: Path,
    script: Mapping[str, Sequence[Say]],
    *,
    mode: Mode = Mode.ASK,
    profiles: Sequence[Profile] = (),
    hooks: Sequence[Hook] = (),
    **limits: Any,
) -> AsyncIterator[Home]:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    setup = setup_in(tmp_path, project, mode)
    setup = replace(setup, profiles=setup.profiles.with_more(profiles), settings=limited(setup, limits))
    setup = replace(setup, hooks=tuple(hooks))
    store = await Store.open(setup.directories.database)
    model = BranchingModel(script)
    core = SessionFactory(setup, store, model, ModelChoice("scripted"), RetryPolicy(max_attempts=1))
    session = await core.new_session()
    made = Home(core, session, model, project)
    session.subscribe(made.hear)
    try:
        yield made
    finally:
        await session.close()
        await core.close()


def limited(setup: Setup, limits: dict[str, Any]) -> Any:
    return setup.settings.model_copy(
        update={"limits": setup.settings.limits.model_copy(update=limits)} if limits else {}
    )
