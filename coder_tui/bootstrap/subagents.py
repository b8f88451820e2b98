"""Furnishes sub-agents: tools of their own over the session's shell, rules and locks.

What keeps a session's conversation within its model's window.
"""

from dataclasses import dataclass, field, replace
from functools import partial

from coder_tui.agent.attachments.skills import loaded_skills
from coder_tui.agent.calls.log import SessionLog
from coder_tui.agent.calls.nested import InnerCalls
from coder_tui.agent.calls.permissions import PermissionDesk
from coder_tui.agent.calls.runner import Scope, ToolRunner
from coder_tui.agent.context.compaction import CompactionDesk
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.context.handover_note import Keepsakes, Summariser
from coder_tui.agent.diagnostics.edits import AgentEdits
from coder_tui.agent.diagnostics.format import open_words
from coder_tui.agent.mcp_session import McpDesk, no_servers
from coder_tui.agent.subagents import Child, Family, Subagents
from coder_tui.agent.turn.model_call import ModelStep
from coder_tui.agent.turn.model_request import ModelChoice, RequestBuilder, nothing
from coder_tui.agent.turn.turn import TurnServices
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.bootstrap.hooks import call_hooks
from coder_tui.bootstrap.prepare import nearby_instructions
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import Workbench, build_registry, build_skills
from coder_tui.llm.client import ModelClient, RetryPolicy
from coder_tui.llm.traits import traits_of
from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.store import Store
from coder_tui.tools.base import Audience
from coder_tui.tools.builtin.batch import BatchTool
from coder_tui.tools.builtin.skill import SkillTool
from coder_tui.tools.builtin.subagents import ForkTool, TaskFinishTool, TaskTool
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.registry import Registry
from coder_tui.tools.truncate import OutputGuard


def build_compaction(
    setup: Setup,
    store: Store,
    client: ModelClient,
    bench: Workbench,
    changes: SessionChanges,
    services: TurnServices,
    todos: TodoList,
) -> CompactionDesk:
    """For the conversation of `services`, which is a session's or a sub-agent's, as its `todos` are."""
    session_id = todos.session_id
    keep = Keepsakes(
        services.conversation,
        changes,
        setup.directory,
        lambda: todos.items,
        partial(store.pins, session_id),
        lambda: setup.redact.known(open_words(bench.pool.open_problems())),
    )
    return CompactionDesk(
        session_id,
        services.conversation,
        services.request,
        Summariser(client, services.meter),
        keep,
        services.meter,
        services.bus,
        store,
        services.cap,
        bench.hooks.compact,
    )


@dataclass(frozen=True, slots=True)
class Furniture:
    """What the children of one session are made of; `services` are the session's own."""

    setup: Setup
    store: Store
    client: ModelClient
    retry: RetryPolicy
    bench: Workbench
    services: TurnServices
    changes: SessionChanges
    mcp: McpDesk = field(default_factory=no_servers)

    def __call__(self, child: Child, choice: ModelChoice) -> TurnServices:
        desk = self.bench.desk.child(child.profile)
        conversation = Conversation(self.store, child.id)
        # Requests and kept files are found by a call's id: it must not be one of the session's.
        conversation.call_ids = self.services.conversation.call_ids
        todos = TodoList(child.id, _not_kept)
        runner = self._runner(child, choice, desk, conversation, todos)
        briefing = replace(self.services.request.briefing, plan=nothing)
        services = TurnServices(
            bus=child.bus,
            conversation=conversation,
            step=ModelStep(self.client, child.bus, self.retry),
            runner=runner,
            meter=child.meter,
            limits=self.services.limits,
            cap=self.services.cap,
            known_tools=runner.registry.names,
            request=RequestBuilder(choice, runner.registry, briefing, lambda: child.profile, Audience.SUB),
            next_queued=_nobody_types,
            over=child.over,
        )
        if choice.name == self.services.request.model:
            child.meter.context_window = self.services.meter.context_window
        room = build_compaction(
            self.setup, self.store, self.client, self.bench, self.changes, services, todos
        )
        return replace(services, room=room)

    def _runner(
        self,
        child: Child,
        choice: ModelChoice,
        desk: PermissionDesk,
        conversation: Conversation,
        todos: TodoList,
    ) -> ToolRunner:
        setup = self.setup
        registry = self._registry(todos, desk)
        log = SessionLog(self.store, child.id, conversation, self.changes)
        nearby, traits = nearby_instructions(setup, conversation), traits_of(choice.name)
        scope = Scope(
            child.id,
            setup.directory,
            child.agent,
            Audience.SUB,
            lambda: traits.sees_images,
            nearby,
            AgentEdits(self.bench.problems),
            call_hooks(self.bench.hooks.runner, log, child.bus),
        )
        child.may_not_end = self.bench.hooks.child_ends
        guard, masks = OutputGuard(setup.tool_output, setup.redact), self.bench.runner.masks
        runner = ToolRunner(registry, desk, log, child.bus, guard, scope, setup.redact, masks)
        skills = build_skills(setup, desk.verdict, desk.let_read)
        skills.follow(lambda: loaded_skills(conversation.messages))
        batch, finish = BatchTool(InnerCalls(runner, child.bus)), TaskFinishTool(child.word)
        registry.renew(batch, finish, SkillTool(skills))
        self.mcp.furnish(registry, InnerCalls(runner, child.bus))
        return runner

    def _registry(self, todos: TodoList, desk: PermissionDesk) -> Registry:
        """Its rules hold for what is found and followed, and what it has read it has read itself."""
        registry = build_registry(
            self.setup, todos, desk.verdict, self.bench.shell, locks=self.bench.locks, pool=self.bench.pool
        )
        registry.adopt(self.bench.registry)
        return registry


def build_subagents(session_id: str, furniture: Furniture) -> Subagents:
    """Let the session's agent start others."""
    bench, services = furniture.bench, furniture.services
    subagents = Subagents(
        Family(
            session_id=session_id,
            store=furniture.store,
            bus=bench.bus,
            meter=services.meter,
            limits=services.limits,
            profiles=bench.profiles.known,
            choice=lambda: services.request.choice,
            furnish=furniture,
        )
    )
    bench.registry.renew(TaskTool(subagents), ForkTool(subagents))
    return subagents


def _nobody_types() -> str | None:
    return None


async def _not_kept(items: tuple[TodoItem, ...]) -> None:
    """A sub-agent's list ends with it."""
