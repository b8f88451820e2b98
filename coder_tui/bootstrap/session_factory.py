"""Build sessions from an open store and a model: the only place where one is put together.

A resumed or forked session gets its stored conversation, profile, model and mode back here.
"""

import asyncio
from dataclasses import dataclass, field, replace
from functools import partial

from coder_tui.agent.attachments.files import Attachments, GitReminder, git_changes
from coder_tui.agent.attachments.mentions import McpMentions, SkillCalls, loaded_skills
from coder_tui.agent.calls.log import SessionLog
from coder_tui.agent.context.budget import filled_by
from coder_tui.agent.context.compaction import ModelContext
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.diagnostics.lookup import CodeLookup
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.pending import Attach, Inbox, MessageQueue
from coder_tui.agent.remember import InstructionWriter
from coder_tui.agent.session import Session
from coder_tui.agent.session_report import SessionReport
from coder_tui.agent.session_state import ModelSwitch, SessionContext, SessionName, SessionState, TitleWriter
from coder_tui.agent.subagents import Subagents
from coder_tui.agent.turn.limits import Limits, SpendLimit
from coder_tui.agent.turn.model_call import ModelStep
from coder_tui.agent.turn.model_request import ModelChoice, ModelInUse, RequestBuilder
from coder_tui.agent.turn.turn import TurnRunner, TurnServices
from coder_tui.agent.turn.usage import Prices, UsageMeter
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.replay import DisplayHistory, replay
from coder_tui.agent.undo.review import ChangeReview
from coder_tui.agent.undo.undo import SessionForks, TurnUndo
from coder_tui.agent.user_shell import BASH, BackgroundJobs, UserCommandRunner, UserShell
from coder_tui.agent.verify import Verifier, VerifyChoices, checked_in
from coder_tui.bootstrap.extensions import (
    build_command_calls,
    build_commands,
    load_commands,
    load_foreign_tools,
)
from coder_tui.bootstrap.mcp import build_mcp
from coder_tui.bootstrap.prepare import build_system_prompt, nearby_instructions
from coder_tui.bootstrap.setup import Setup, find_skills, workspace_of
from coder_tui.bootstrap.subagents import AgentFactory
from coder_tui.bootstrap.toolset import SessionTools, ToolPorts, build_session_tools, register_all
from coder_tui.bootstrap.undo import blobs_of, build_changes
from coder_tui.config.sources import Layer, layer_of
from coder_tui.config.trust import TrustedWrites
from coder_tui.llm.catalog import small_model_for
from coder_tui.llm.client import ModelClient, RetryPolicy
from coder_tui.llm.host_client import HostClient
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.protocol.events import TodosChanged
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.todos import TodoItem
from coder_tui.shell.sandbox.sandbox import SandboxKind
from coder_tui.skills.command_files import CommandFiles
from coder_tui.skills.session_skills import skill_list_text
from coder_tui.storage.store import Store, StoredProfile, StoredSession
from coder_tui.tools.builtin.todo import SaveTodos, TodoList
from coder_tui.tools.catalog import agent_tools
from coder_tui.tools.ports import NoFinisher
from coder_tui.workspace.undo.snapshots import SnapshotStore


def build_verifier(
    setup: Setup, context: SessionContext, tools: SessionTools, changes: SessionChanges
) -> Verifier:
    rules, notify = setup.settings.verify, tools.bus.notify
    # The demo's folder is deleted with its session: there is nothing to choose for later.
    find_check = (lambda folder: "") if setup.is_scratch else checked_in
    choices = VerifyChoices(setup.directory, context.store.verify, tools.broker.ask, notify, find_check)
    is_own = layer_of(setup.sources, ("verify", "command")) is not Layer.PROJECT
    commands = build_command_runner(setup, tools, opens_named=is_own)

    def unseen() -> int:
        return changes.commands.unseen + tools.shell.jobs.begun

    return Verifier(rules, choices, commands, changes, lambda: context.state.turn, notify, unseen)


def build_command_runner(setup: Setup, tools: SessionTools, *, opens_named: bool = True) -> UserCommandRunner:
    return UserCommandRunner(
        tools.session_id,
        setup.directory,
        tools.bus,
        tools.permissions,
        lambda: tools.registry.get(BASH),
        setup.redact,
        opens_named,
    )


AUTO = "auto"


@dataclass(slots=True)
class SessionFactory:
    """Makes sessions from an open store and a model."""

    setup: Setup
    store: Store
    client: ModelClient
    choice: ModelChoice
    retry: RetryPolicy = field(default_factory=RetryPolicy)

    async def new_session(self) -> Session:
        info = await self.store.sessions.create(str(self.setup.directory), self.choice.name, self.setup.mode)
        await self.store.sessions.claim(info.id)
        session = await self._build(StoredSession(info, (), {}, (), Usage()), StoredProfile())
        if self.setup.agent:
            session.profiles.use(self.setup.agent)
        return session

    async def resume(self, session_id: str) -> Session:
        """Resume a stored session; calls that a crash cut off get a result first."""
        info = await self.store.sessions.get(session_id)
        if not await self.store.sessions.claim(info.id):
            raise StorageError(f"session {info.id} is open in another coder-tui; close it there first")
        cut_off = await self.store.close_unfinished(info.id)
        await self.store.sessions.set_model(info.id, self.choice.name)
        lead = await self.store.profiles.get(info.id)
        stored = await self.store.load(info.id)
        session = await self._build(stored, lead)
        if not self.setup.is_mode_given:
            _restore_mode(session, info.mode)
        _restore_profile(session, self.setup.agent, lead.profile)
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
        return SnapshotStore(self.store.changes, blobs_of(self.setup))

    async def _build(self, stored: StoredSession, lead: StoredProfile) -> Session:
        """Build each part once, from those above it."""
        # A skill may have been written since the last session.
        self.setup = setup = replace(self.setup, skills=await asyncio.to_thread(find_skills, self.setup))
        info, section = stored.info, setup.settings.limits
        state = SessionState(self.choice.name, info.title, stored.last_turn)
        context = SessionContext(info, self.store, EventBus(), state)
        conversation = Conversation(self.store.messages, info.id, stored.messages, stored.compactions)
        changes = build_changes(setup, context)
        todos = TodoList(info.id, _todo_saver(context), stored.todos)
        in_use, meter = ModelInUse(self.choice), self._meter(context.bus, stored)
        models = ModelSwitch(context, in_use, meter)
        ports = ToolPorts(
            log=SessionLog(self.store, info.id, conversation, changes),
            profiles=self.store.profiles,
            on_profile_change=models.follow_profile,
            plan=lead.plan,
            sees_images=state.sees_images,
            nearby=nearby_instructions(setup, conversation),
            loaded_skills=lambda: loaded_skills(conversation.messages),
        )
        tools = build_session_tools(setup, context.bus, todos, ports)
        mcp = await build_mcp(setup, tools.registry, tools.inner, context.notice)
        cheaper = partial(self._cheaper, self.choice)
        cap = SpendLimit(section.max_cost, tools.broker, cheaper, models.use_now, tools.bus.notify)
        request = self._request(in_use, tools)
        agents = AgentFactory(
            *(setup, self.store, self.client, self.retry, tools, changes, mcp),
            context=ModelContext(info.id, conversation, request, meter, context.bus, cap),
            limits=Limits(section.max_steps, section.max_minutes, section.repeated_calls),
        )
        subagents = agents.build_subagents()
        register_all(tools.registry, agent_tools(subagents, tools.inner, NoFinisher()))
        # All tools are registered by now, so that their definitions count.
        meter.context_tokens = filled_by(conversation, request)
        session = self._session(context, models, agents, subagents, todos, stored)
        tools.hooks.begin(is_resumed=bool(stored.messages))
        return await self._opened(session, tools)

    def _session(
        self,
        context: SessionContext,
        models: ModelSwitch,
        agents: AgentFactory,
        subagents: Subagents,
        todos: TodoList,
        stored: StoredSession,
    ) -> Session:
        setup, tools, changes, model_context = self.setup, agents.tools, agents.changes, agents.context
        commands = build_commands(setup, tools.skills)
        verifier = build_verifier(setup, context, tools, changes)
        inbox = Inbox(MessageQueue(context.bus), self._attachers(agents, commands))
        runner = self._runner(context, agents, todos, inbox, verifier)
        history = DisplayHistory(self.store, model_context, todos, tuple(replay(stored)))
        report_changes = tools.runner.report_changes
        vouching = TrustedWrites(setup.directories, setup.directory)
        return Session(
            context=context,
            runner=runner,
            models=models,
            broker=tools.broker,
            permissions=tools.permissions,
            profiles=tools.profiles,
            changes=changes,
            turns=TurnUndo(context, history, changes, todos, inbox.held, report_changes),
            review=ChangeReview(changes, report_changes, context.directory),
            forks=SessionForks(context, model_context.conversation),
            shell=UserShell(build_command_runner(setup, tools), inbox.held),
            jobs=BackgroundJobs(tools.shell.jobs, setup.redact),
            instructions=InstructionWriter(
                context, tools.runner, tools.permissions, tools.broker, vouching, inbox.held
            ),
            compaction=runner.services.compactor,
            verifier=verifier,
            subagents=subagents,
            mcp=agents.mcp,
            lookup=CodeLookup(tools.pool, workspace_of(setup)),
            report=SessionReport(
                *(context, model_context, tools.permissions, tools.profiles, tools.registry, tools.skills),
                commands=commands,
                attachments=inbox.held,
            ),
            has_git_changes=git_changes(tools.registry.get("git_status"), setup.directory),
            is_stored=not setup.is_scratch,
            is_confined=setup.sandbox.kind is not SandboxKind.NONE,
        )

    def _runner(
        self,
        context: SessionContext,
        agents: AgentFactory,
        todos: TodoList,
        inbox: Inbox,
        verifier: Verifier,
    ) -> TurnRunner:
        services = TurnServices(
            context=agents.context,
            step=ModelStep(self.client, context.bus, self.retry),
            runner=agents.tools.runner,
            inbox=inbox,
            compactor=agents.build_compactor(agents.context, todos),
            limits=agents.limits,
            prepare=agents.mcp.prepare,
            check=agents.tools.hooks.after(verifier.after_turn),
        )
        titles = TitleWriter(self.client, self._small_model(), agents.context.meter, agents.context.cap)
        return TurnRunner(services, SessionName(context, titles), self.store.turns)

    def _attachers(self, agents: AgentFactory, commands: CommandFiles) -> tuple[Attach, ...]:
        """List what adds to a message, in the order in which it is added."""
        setup, tools, mcp = self.setup, agents.tools, agents.mcp
        notify = tools.bus.notify
        files = Attachments(
            tools.registry.get("read"),
            workspace_of(setup),
            tools.permissions,
            setup.redact,
            lambda: agents.context.request.model,
            notify,
        )
        runner = build_command_runner(setup, tools)
        return (
            tools.hooks.attach,
            build_command_calls(commands, runner, tools, agents.changes, agents.context, files.attach).attach,
            files.attach,
            SkillCalls(tools.skills, setup.redact, notify).attach,
            GitReminder(tools.registry.get("git_status"), setup.directory).attach,
            McpMentions(mcp, setup.redact, notify).attach,
        )

    def _request(self, in_use: ModelInUse, tools: SessionTools) -> RequestBuilder:
        profiles = tools.profiles
        prompt = build_system_prompt(
            self.setup, lambda: skill_list_text(tools.skills.offered()), lambda: profiles.plan
        )
        return RequestBuilder(in_use, tools.registry, prompt, lambda: profiles.current)

    async def _opened(self, session: Session, tools: SessionTools) -> Session:
        """Load what comes from outside, and close with the session what was started for it."""
        await load_commands(session)
        await load_foreign_tools(self.setup, tools, session)
        session.mcp.start()
        for closer in (tools.hooks.end, session.mcp.close, tools.close, tools.background.close):
            session.on_close(closer)
        return session

    def _small_model(self) -> ModelChoice | None:
        """Return the model for small tasks; `auto` is a cheap model of the same provider."""
        name = self.setup.settings.model.small
        if name == AUTO:
            name = small_model_for(self.choice.name)
        return self.choice.helped_by(name) if name else None

    def _meter(self, bus: EventBus, stored: StoredSession) -> UsageMeter:
        prices = Prices(self.client.model_info) if isinstance(self.client, HostClient) else Prices()
        return UsageMeter(
            self.store.usage, bus, stored.info.id, stored.usage, last_costs=stored.last_costs, prices=prices
        )

    def _cheaper(self, first: ModelChoice, model: str) -> ModelChoice | None:
        """Return the configured small model, else a cheap one of the provider; None if it is this one."""
        small = self.setup.settings.model.small
        name = small_model_for(model) if small in ("", AUTO) else small
        return None if name == model else first.helped_by(name)


def _restore_mode(session: Session, mode: Mode) -> None:
    """Restore the mode, except `auto`: it is confirmed each time, since weeks later nobody remembers it."""
    if mode is Mode.AUTO:
        session.notice(NoticeLevel.INFO, "This session ran in mode auto; it resumes in mode ask.")
    else:
        session.set_mode(mode)


def _restore_profile(session: Session, wanted: str, stored: str) -> None:
    """Let the stored profile lead again, except in plan mode; warn if its file is gone."""
    if wanted:
        session.profiles.use(wanted)
    elif stored and session.mode is not Mode.PLAN and stored != session.profiles.current.name:
        try:
            session.profiles.use(stored)
        except UsageError as error:
            session.notice(NoticeLevel.WARNING, f"This session ran as the agent {stored}: {error}.")


def _todo_saver(context: SessionContext) -> SaveTodos:
    async def save(items: tuple[TodoItem, ...]) -> None:
        await context.store.todos.set(context.id, items)
        context.bus.publish(TodosChanged(items))

    return save
