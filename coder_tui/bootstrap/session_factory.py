"""An open store and a model become sessions.

What checks a session's work after its turns.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from coder_tui.agent.attachments.files import Attach, Attachments, both
from coder_tui.agent.attachments.git_state import GitReminder, git_changes
from coder_tui.agent.attachments.mcp import McpMentions
from coder_tui.agent.attachments.skills import SkillCalls, loaded_skills
from coder_tui.agent.calls.log import SessionLog
from coder_tui.agent.context.budget import filled_by
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.diagnostics.lookup import CodeLookup
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.mcp_session import McpDesk
from coder_tui.agent.pending import MessageQueue
from coder_tui.agent.session import Session, SessionParts
from coder_tui.agent.title import SessionState, TitleWriter
from coder_tui.agent.turn.limits import Limits, SpendCap
from coder_tui.agent.turn.model_call import ModelStep
from coder_tui.agent.turn.model_request import ModelChoice, RequestBuilder
from coder_tui.agent.turn.turn import TurnServices
from coder_tui.agent.turn.usage import Prices, UsageMeter
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.replay import replay
from coder_tui.agent.user_shell import BASH, JobDesk, ShownCommands
from coder_tui.agent.verify.command import VerifyChoices, checked_in
from coder_tui.agent.verify.verify import Verifier, VerifyRules
from coder_tui.bootstrap.extensions import bring_commands, bring_tools, build_commands, command_calls
from coder_tui.bootstrap.mcp import open_desk
from coder_tui.bootstrap.prepare import build_briefing, nearby_instructions
from coder_tui.bootstrap.setup import Setup, find_skills, workspace_of
from coder_tui.bootstrap.subagents import Furniture, build_compaction, build_subagents
from coder_tui.bootstrap.toolset import Workbench, build_workbench
from coder_tui.bootstrap.undo import blobs_of, session_changes
from coder_tui.config.sources import Layer, layer_of
from coder_tui.config.trust import ProjectVouching
from coder_tui.llm.catalog import small_model_for
from coder_tui.llm.client import ModelClient, RetryPolicy
from coder_tui.llm.host_client import HostClient
from coder_tui.llm.providers import is_same_provider
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.protocol.events import Notice, TodosChanged
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.todos import TodoItem
from coder_tui.shell.sandbox.sandbox import SandboxKind
from coder_tui.skills.command_files import CommandShelf
from coder_tui.skills.session_skills import catalogue_text
from coder_tui.storage.store import Store, StoredLead, StoredSession
from coder_tui.tools.builtin.todo import SaveTodos, TodoList
from coder_tui.workspace.undo.snapshots import SnapshotStore


def build_verifier(
    setup: Setup,
    store: Store,
    session_id: str,
    bench: Workbench,
    changes: SessionChanges,
    turn: Callable[[], int],
) -> Verifier:
    def notify(level: NoticeLevel, text: str) -> None:
        bench.bus.publish(Notice(level, text))

    section = setup.settings.verify
    rules = VerifyRules(section.enabled, section.command, section.max_rounds, section.timeout_sec)
    # Nobody chooses for a folder that is gone with the session.
    look = (lambda folder: "") if setup.is_scratch else checked_in
    choices = VerifyChoices(setup.directory, store, bench.broker, notify, look)
    commands = ShownCommands(
        session_id,
        setup.directory,
        bench.bus,
        bench.desk,
        lambda: bench.registry.get(BASH),
        setup.redact,
        opens_named=layer_of(setup.sources, ("verify", "command")) is not Layer.PROJECT,
    )

    def unseen() -> int:
        return changes.watch.unseen + bench.shell.jobs.begun

    return Verifier(rules, choices, commands, changes, turn, notify, unseen)


AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Core:
    """An open store and a model; makes sessions."""

    setup: Setup
    store: Store
    client: ModelClient
    choice: ModelChoice
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    async def new_session(self) -> Session:
        info = await self.store.create_session(str(self.setup.directory), self.choice.name, self.setup.mode)
        await self.store.claim(info.id)
        fresh = await self._renewed()
        session = await fresh._session(StoredSession(info, (), {}, (), Usage()), StoredLead())
        if self.setup.agent:
            session.profiles.use(self.setup.agent)
        return session

    async def resume(self, session_id: str) -> Session:
        """Go on with a stored session; calls that a crash cut off get their result first."""
        info = await self.store.get(session_id)
        if not await self.store.claim(info.id):
            raise StorageError(f"session {info.id} is open in another coder-tui; close it there first")
        cut_off = await self.store.close_unfinished(info.id)
        await self.store.set_model(info.id, self.choice.name)
        lead = await self.store.lead(info.id)
        fresh = await self._renewed()
        stored = await self.store.load(info.id)
        session = await fresh._session(stored, lead)
        if not self.setup.is_mode_given:
            _take_up_mode(session, info.mode)
        _take_up_profile(session, self.setup.agent, lead.profile)
        if stored.damage:
            session.notice(NoticeLevel.WARNING, str(stored.damage))
        if cut_off:
            calls = "call was" if len(cut_off) == 1 else "calls were"
            session.notice(
                NoticeLevel.INFO, f"The last turn was cut off; {len(cut_off)} {calls} not finished."
            )
        return session

    async def close(self) -> None:
        await self.client.close()
        await self.store.close()

    @property
    def snapshots(self) -> SnapshotStore:
        return SnapshotStore(self.store, blobs_of(self.setup))

    async def _renewed(self) -> "Core":
        """With the skills of now: one may have been written since the last session."""
        found = await asyncio.to_thread(find_skills, self.setup)
        return replace(self, setup=replace(self.setup, skills=found))

    async def _session(self, stored: StoredSession, lead: StoredLead) -> Session:
        info, bus = stored.info, EventBus()
        conversation = Conversation(self.store, info.id, stored.messages, stored.compactions)
        state = SessionState(self.choice.name, info.title, stored.last_turn)
        changes = session_changes(self.setup, self.store, info.id, lambda: state.turn)
        log = SessionLog(self.store, info.id, conversation, changes)
        todos = TodoList(info.id, _todo_saver(self.store, bus, info.id), stored.todos)
        nearby = nearby_instructions(self.setup, conversation)
        bench = build_workbench(
            self.setup, bus, todos, log, log, self.store, lead.plan, state.sees_images, nearby
        )
        bench.skills.follow(lambda: loaded_skills(conversation.messages))
        queue = MessageQueue(bus)
        mcp = await open_desk(self.setup, bench)
        services = self._services(bench, conversation, queue, stored, mcp)
        compaction = build_compaction(self.setup, self.store, self.client, bench, changes, services, todos)
        verifier = build_verifier(self.setup, self.store, info.id, bench, changes, lambda: state.turn)
        services = replace(services, room=compaction, check=bench.hooks.after(verifier.after_turn))
        commands, services = self._with_commands(info.id, bench, services, changes)
        furniture = Furniture(self.setup, self.store, self.client, self.retry, bench, services, changes, mcp)
        parts = SessionParts(
            info=info,
            store=self.store,
            bus=bus,
            broker=bench.broker,
            desk=bench.desk,
            queue=queue,
            state=state,
            services=services,
            titles=TitleWriter(self.client, self._small_model(), services.meter, services.cap),
            changes=changes,
            profiles=bench.profiles,
            skills=bench.skills,
            commands=commands,
            earlier=tuple(replay(stored)),
            todos=lambda: todos.items,
            take_todos=todos.take,
            subagents=build_subagents(info.id, furniture),
            compaction=compaction,
            verifier=verifier,
            mcp=mcp,
            lookup=CodeLookup(bench.pool, workspace_of(self.setup)),
            vouching=ProjectVouching(self.setup.directories, self.setup.directory),
            jobs=JobDesk(bench.shell.jobs, self.setup.redact),
            has_git_changes=git_changes(bench.registry.get("git_status"), self.setup.directory),
            is_kept=not self.setup.is_scratch,
            is_confined=self.setup.sandbox.kind is not SandboxKind.NONE,
        )
        bench.hooks.begin(is_resumed=bool(stored.messages))
        return await self._opened(Session(parts), bench, mcp)

    async def _opened(self, session: Session, bench: Workbench, mcp: McpDesk) -> Session:
        """With what comes from outside, and with an end for all that was begun for it."""
        await bring_commands(session)
        await bring_tools(self.setup, bench, session)
        mcp.start(session.notice)
        for closer in (bench.hooks.end, mcp.close, bench.close, bench.background.close):
            session.on_close(closer)
        return session

    def _with_commands(
        self, session_id: str, bench: Workbench, services: TurnServices, changes: SessionChanges
    ) -> tuple[CommandShelf, TurnServices]:
        """With what people's own commands say, where a message calls one."""
        shelf = build_commands(self.setup, bench.skills)
        files = self._attachments(bench, services.request).of
        called = command_calls(self.setup, session_id, bench, shelf, changes, services, files)
        return shelf, replace(services, attach=both(bench.hooks.of, both(called, services.attach)))

    def _small_model(self) -> ModelChoice | None:
        """`auto` is a cheap model of the same provider. Another provider's key must not go to this server."""
        name = self.setup.settings.model.small
        if name == AUTO:
            name = small_model_for(self.choice.name)
        if not name:
            return None
        is_same_server = is_same_provider(name, self.choice.name)
        return ModelChoice(name, self.choice.api_base if is_same_server else "")

    def _services(
        self,
        bench: Workbench,
        conversation: Conversation,
        queue: MessageQueue,
        stored: StoredSession,
        mcp: McpDesk,
    ) -> TurnServices:
        limits = self.setup.settings.limits
        profiles = bench.profiles
        briefing = build_briefing(
            self.setup, lambda: catalogue_text(bench.skills.offered()), lambda: profiles.plan
        )
        request = RequestBuilder(self.choice, bench.registry, briefing, lambda: profiles.current)
        return TurnServices(
            bus=bench.bus,
            conversation=conversation,
            step=ModelStep(self.client, bench.bus, self.retry),
            runner=bench.runner,
            meter=self._meter(bench.bus, stored, filled_by(conversation, request)),
            limits=Limits(limits.max_steps, limits.max_minutes, limits.repeated_calls),
            known_tools=bench.registry.names,
            request=request,
            next_queued=queue.take_first,
            prepare=mcp.prepare,
            attach=both(self._attach(bench, request), self._of_servers(bench, mcp)),
            cap=SpendCap(limits.max_cost, bench.broker, self._cheaper, _notifier(bench.bus)),
        )

    def _meter(self, bus: EventBus, stored: StoredSession, filled: int) -> UsageMeter:
        prices = Prices(self.client.model_info) if isinstance(self.client, HostClient) else Prices()
        return UsageMeter(self.store, bus, stored.info.id, stored.usage, filled, stored.last_costs, prices)

    def _cheaper(self, model: str) -> ModelChoice | None:
        """The configured small model, else a cheap one of the same provider; None where that is this one."""
        small = self.setup.settings.model.small
        name = small_model_for(model) if small in ("", AUTO) else small
        if name == model:
            return None
        is_same_server = is_same_provider(name, self.choice.name)
        return ModelChoice(name, self.choice.api_base if is_same_server else "")

    def _attach(self, bench: Workbench, request: RequestBuilder) -> Attach:
        """What goes with a person's words: the files and skills that they name, and how git stands."""
        skills = SkillCalls(bench.skills, self.setup.redact, _notifier(bench.bus))
        named = both(self._attachments(bench, request).of, skills.of)
        return both(named, GitReminder(bench.registry.get("git_status"), self.setup.directory).of)

    def _of_servers(self, bench: Workbench, mcp: McpDesk) -> Attach:
        return McpMentions(mcp, self.setup.redact, _notifier(bench.bus)).of

    def _attachments(self, bench: Workbench, request: RequestBuilder) -> Attachments:
        return Attachments(
            bench.registry.get("read"),
            workspace_of(self.setup),
            bench.desk,
            self.setup.redact,
            lambda: request.model,
            _notifier(bench.bus),
        )


def _notifier(bus: EventBus) -> Callable[[NoticeLevel, str], None]:
    return lambda level, text: bus.publish(Notice(level, text))


def _take_up_mode(session: Session, mode: Mode) -> None:
    """Mode `auto` is chosen and confirmed each time: weeks later nobody remembers having done so."""
    if mode is Mode.AUTO:
        session.notice(NoticeLevel.INFO, "This session ran in mode auto; it goes on in mode ask.")
    else:
        session.set_mode(mode)


def _take_up_profile(session: Session, wanted: str, stored: str) -> None:
    """Plan mode keeps its own; an agent whose file is gone is told of."""
    if wanted:
        session.profiles.use(wanted)
    elif stored and session.mode is not Mode.PLAN and stored != session.profiles.current.name:
        try:
            session.profiles.use(stored)
        except UsageError as error:
            session.notice(NoticeLevel.WARNING, f"This session ran as the agent {stored}: {error}.")


def _todo_saver(store: Store, bus: EventBus, session_id: str) -> SaveTodos:
    async def save(items: tuple[TodoItem, ...]) -> None:
        await store.set_todos(session_id, items)
        bus.publish(TodosChanged(items))

    return save
