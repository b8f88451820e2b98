"""A whole core around a scripted model and small tools, with a real store."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from coder_tui.agent.profiles.profiles import BUILD, built_in, off, on
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.bootstrap.setup import Setup
from coder_tui.config.paths import Directories
from coder_tui.config.settings import load_settings
from coder_tui.config.sources import find_sources
from coder_tui.llm.client import RetryPolicy
from coder_tui.policy.rules import Effect, Rule
from coder_tui.protocol.events import Event, RequestOpened
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Decision,
    QuestionReply,
    QuestionRequest,
    unattended,
)
from coder_tui.storage.store import Store
from coder_tui.text.redact import BY_SHAPE, Redactor
from tests.fakes.scripted_model import Say, ScriptedModel
from tests.fakes.tools import ActTool, LookTool


@dataclass
class World:
    """`answers` are given to requests in order; none left: the request stays open."""

    session: Session
    model: ScriptedModel
    look: LookTool
    act: ActTool
    store: Store
    events: list[Event] = field(default_factory=list)
    answers: list[ApprovalReply] = field(default_factory=list)
    replies: list[QuestionReply] = field(default_factory=list)
    """To questions; where there are none left, nobody is there."""
    questions: list[QuestionRequest] = field(default_factory=list)
    requests: asyncio.Queue[ApprovalRequest] = field(default_factory=asyncio.Queue)

    def on_event(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, RequestOpened):
            if isinstance(event.request, QuestionRequest):
                self.questions.append(event.request)
                reply = self.replies.pop(0) if self.replies else unattended(event.request)
                self.session.answer(event.request.id, reply)
            elif self.answers:
                self.session.answer(event.request.id, self.answers.pop(0))
            elif isinstance(event.request, ApprovalRequest):
                self.requests.put_nowait(event.request)

    async def asked(self) -> ApprovalRequest:
        """The next request that nobody has answered yet."""
        return await self.requests.get()

    @property
    def asked_before(self) -> list[ApprovalRequest]:
        """Every approval that was asked for so far."""
        requests = (event.request for event in self.events if isinstance(event, RequestOpened))
        return [request for request in requests if isinstance(request, ApprovalRequest)]

    def of(self, *kinds: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kinds)]

    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]


ALLOW = ApprovalReply(Decision.ALLOW_ONCE)
DENY = ApprovalReply(Decision.DENY, "use make clean")


FORBIDDEN = Rule("act", "forbidden", Effect.DENY, "test")


@asynccontextmanager
async def world(
    folder: Path,
    replies: Iterable[Say],
    *,
    answers: Iterable[ApprovalReply] = (),
    resume: str = "",
    small: str = "",
    redact: Redactor = BY_SHAPE,
    **limits: float,
) -> AsyncIterator[World]:
    """Open a session in `folder`, which holds the program's own folders as well."""
    model = ScriptedModel(replies)
    setup = _setup(folder, redact, {"model": {"small": small}, "limits": limits})
    store = await Store.open(setup.directories.database, redact)
    retry = RetryPolicy(max_attempts=3, base=0.0)
    core = SessionFactory(setup, store, model, ModelChoice("scripted"), retry)
    session = await (core.resume(resume) if resume else core.new_session())
    look, act = LookTool(), ActTool()
    for tool in (look, act):
        session.report.registry.register(tool)
    made = World(session, model, look, act, store, answers=list(answers))
    session.subscribe(made.on_event)
    try:
        yield made
    finally:
        await session.close()
        await core.close()


def _setup(folder: Path, redact: Redactor, flags: dict[str, object]) -> Setup:
    """Default settings but for `flags`; no language servers, and few tools."""
    own = Directories(folder / "config", folder / "data", folder / "cache", folder / "log")
    sources = find_sources(own, folder, {}, flags | {"lsp": {"*": {"enabled": False}}}, None)
    profiles = built_in()
    small = replace(profiles.get(BUILD), switches=(*off("*"), *on("look", "act", "bash")), rules=(FORBIDDEN,))
    settings = load_settings(sources)
    return Setup(folder, own, settings, sources, redact=redact, profiles=profiles.with_more([small]))
