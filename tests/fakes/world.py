"""A whole core around a scripted model and small tools, with a real store."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path

from coder_tui.agent.calls.log import SessionLog
from coder_tui.agent.calls.permissions import PermissionDesk
from coder_tui.agent.calls.runner import Scope, ToolRunner
from coder_tui.agent.context.compaction import CompactionDesk
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.context.handover_note import Keepsakes, Summariser
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.pending import MessageQueue
from coder_tui.agent.profiles.profiles import built_in
from coder_tui.agent.profiles.switch import ProfileSwitch
from coder_tui.agent.request_broker import RequestBroker
from coder_tui.agent.session import Session, SessionParts
from coder_tui.agent.title import SessionState, TitleWriter
from coder_tui.agent.turn.limits import Limits, SpendCap
from coder_tui.agent.turn.model_call import ModelStep
from coder_tui.agent.turn.model_request import Briefing, Environment, ModelChoice, RequestBuilder
from coder_tui.agent.turn.turn import TurnServices
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.replay import replay
from coder_tui.agent.user_shell import BASH, ShownCommands
from coder_tui.agent.verify.command import VerifyChoices
from coder_tui.agent.verify.verify import Verifier, VerifyRules
from coder_tui.llm.client import RetryPolicy
from coder_tui.policy.decide import Policy
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, Notice, RequestOpened
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Decision,
    Grant,
    QuestionReply,
    QuestionRequest,
    unattended,
)
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.store import Store, StoredSession
from coder_tui.tasks import Background
from coder_tui.text.redact import BY_SHAPE, Redactor
from coder_tui.tools.ports import NobodyThere
from coder_tui.tools.registry import Registry
from coder_tui.tools.truncate import OutputGuard
from coder_tui.workspace.undo.snapshots import SnapshotStore
from tests.fakes.scripted_model import Say, ScriptedModel
from tests.fakes.tools import ActTool, LookTool


@dataclass
class Keeper:
    """Takes grants to be kept, or refuses with `problem`."""

    kept: list[Grant] = field(default_factory=list)
    problem: str = ""

    async def keep(self, grant: Grant) -> str:
        if self.problem:
            raise UserError(self.problem)
        self.kept.append(grant)
        return "settings"


@dataclass
class World:
    """`answers` are given to requests in order; none left: the request stays open."""

    session: Session
    model: ScriptedModel
    look: LookTool
    act: ActTool
    store: Store
    keeper: Keeper
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


@asynccontextmanager
async def world(
    folder: Path,
    replies: Iterable[Say],
    *,
    answers: Iterable[ApprovalReply] = (),
    limits: Limits | None = None,
    max_cost: float | None = None,
    cheaper: str = "",
    resume: str = "",
    small: str = "",
    redact: Redactor = BY_SHAPE,
) -> AsyncIterator[World]:
    store = await Store.open(folder / "data" / "sessions.db", redact)
    info = await (store.get(resume) if resume else store.create_session(str(folder), "scripted", Mode.ASK))
    if resume:
        await store.close_unfinished(info.id)
    stored = await store.load(info.id)
    made = _assemble(
        store, stored, folder, ScriptedModel(replies), limits or Limits(), (max_cost, cheaper), small, redact
    )
    made.answers = list(answers)
    try:
        yield made
    finally:
        await made.session.close()
        await store.close()


def _assemble(
    store: Store,
    stored: StoredSession,
    folder: Path,
    model: ScriptedModel,
    limits: Limits,
    spending: tuple[float | None, str],
    small: str,
    redact: Redactor,
) -> World:
    bus, look, act, info = EventBus(), LookTool(), ActTool(), stored.info
    conversation = Conversation(store, info.id, stored.messages, stored.compactions)
    state = SessionState("scripted", info.title, stored.last_turn)
    snapshots = SnapshotStore(store, BlobStore(folder / "data/blobs"))
    changes = SessionChanges(snapshots, info.id, lambda: state.turn, Path(info.directory) / "undone")
    log = SessionLog(store, info.id, conversation, changes)
    broker, queue, keeper = RequestBroker(bus), MessageQueue(bus), Keeper()

    def notify(level: NoticeLevel, text: str) -> None:
        bus.publish(Notice(level, text))

    forbidden = Layer("test", (Rule("act", "forbidden", Effect.DENY, "test"),))
    policy, background = Policy(Boundaries((str(folder),)), layers=(forbidden,)), Background()
    desk = PermissionDesk(policy, broker, log, keeper, notify)
    profiles = ProfileSwitch(info.id, built_in(), desk, bus, store, background.start)
    registry, guard = Registry([look, act]), OutputGuard(folder / "out", redact)
    runner = ToolRunner(registry, desk, log, bus, guard, Scope(info.id, folder), redact)
    services = TurnServices(
        bus=bus,
        conversation=conversation,
        step=ModelStep(model, bus, RetryPolicy(max_attempts=3, base=0.0)),
        runner=runner,
        meter=UsageMeter(store, bus, info.id, stored.usage, last_costs=stored.last_costs),
        limits=limits,
        known_tools=registry.names,
        request=_request_without_tools(folder, profiles),
        next_queued=queue.take_first,
        cap=_cap(*spending, broker, notify),
    )
    room = _compaction(store, stored, folder, model, services, changes)
    services, earlier = replace(services, room=room), tuple(replay(stored))
    titles = TitleWriter(model, ModelChoice(small) if small else None, services.meter, services.cap)
    desks = (room, _verifier(store, services, desk, changes), profiles)
    first = (info, store, bus, broker, desk, queue, state, services, titles, changes)
    parts = SessionParts(*first, *desks, earlier)
    made = World(Session(parts), model, look, act, store, keeper)
    made.session.on_close(background.close)
    made.session.subscribe(made.on_event)
    return made


def _cap(
    max_cost: float | None, cheaper: str, broker: RequestBroker, notify: Callable[[NoticeLevel, str], None]
) -> SpendCap:
    return SpendCap(max_cost, broker, lambda name: ModelChoice(cheaper) if cheaper else None, notify)


def _compaction(
    store: Store,
    stored: StoredSession,
    folder: Path,
    model: ScriptedModel,
    services: TurnServices,
    changes: SessionChanges,
) -> CompactionDesk:
    id_, told = stored.info.id, services.conversation
    keep = Keepsakes(told, changes, folder, lambda: stored.todos, partial(store.pins, id_))
    summariser = Summariser(model, services.meter)
    return CompactionDesk(
        id_, told, services.request, summariser, keep, services.meter, services.bus, store, services.cap
    )


def _verifier(
    store: Store, services: TurnServices, desk: PermissionDesk, changes: SessionChanges
) -> Verifier:
    """Checks nothing: these sessions have no shell."""

    def notify(level: NoticeLevel, text: str) -> None:
        services.bus.publish(Notice(level, text))

    runner, folder = services.runner, Path("/")
    choices = VerifyChoices(folder, store, NobodyThere(), notify, lambda folder: "")
    commands = ShownCommands("", folder, services.bus, desk, lambda: runner.registry.get(BASH), runner.redact)
    return Verifier(VerifyRules(is_enabled=False), choices, commands, changes, lambda: 0, notify, lambda: 0)


def _request_without_tools(folder: Path, profiles: ProfileSwitch) -> RequestBuilder:
    briefing = Briefing(Environment(folder, date(2026, 1, 2), has_git=False), plan=lambda: profiles.plan)
    return RequestBuilder(ModelChoice("scripted"), Registry(), briefing, lambda: profiles.current)
