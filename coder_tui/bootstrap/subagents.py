"""Build the sub-agents of a session over its shell, rules and locks, and the compaction of its agents."""

from dataclasses import dataclass, replace
from functools import partial

from coder_tui.agent.attachments.mentions import loaded_skills
from coder_tui.agent.calls.log import SessionLog
from coder_tui.agent.calls.nested import InnerCalls
from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.calls.runner import Scope, ToolRunner
from coder_tui.agent.context.compaction import Compactor, ModelContext
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.context.handover_note import HandoverNote, Summarizer
from coder_tui.agent.diagnostics.format import format_open_problems
from coder_tui.agent.diagnostics.session import EditDiagnostics
from coder_tui.agent.mcp_session import SessionMcp
from coder_tui.agent.pending import Inbox, MessageQueue
from coder_tui.agent.subagents import Subagent, SubagentContext, Subagents
from coder_tui.agent.turn.limits import Limits
from coder_tui.agent.turn.model_call import ModelStep
from coder_tui.agent.turn.model_request import ModelChoice, ModelInUse, RequestBuilder, nothing
from coder_tui.agent.turn.turn import TurnServices
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.bootstrap.hooks import call_hooks
from coder_tui.bootstrap.prepare import nearby_instructions
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import (
    SessionTools,
    build_registry,
    build_skills,
    no_subagents,
    register_all,
)
from coder_tui.llm.client import ModelClient, RetryPolicy
from coder_tui.llm.traits import traits_of
from coder_tui.protocol.todos import TodoItem
from coder_tui.storage.store import Store
from coder_tui.tools.base import Audience
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.catalog import agent_tools
from coder_tui.tools.truncate import OutputGuard


@dataclass(frozen=True, slots=True)
class AgentFactory:
    """Builds what the agents of one session need; `context` is that of its main agent."""

    setup: Setup
    store: Store
    client: ModelClient
    retry: RetryPolicy
    tools: SessionTools
    changes: SessionChanges
    mcp: SessionMcp
    context: ModelContext
    limits: Limits

    def build_compactor(self, context: ModelContext, todos: TodoList) -> Compactor:
        """Build the compactor of one agent, which `context` and `todos` belong to."""
        note = HandoverNote(
            context.conversation,
            self.changes,
            self.setup.directory,
            lambda: todos.items,
            partial(self.store.compactions.pins, context.session_id),
            lambda: self.setup.redact.known(format_open_problems(self.tools.pool.open_problems())),
        )
        summariser = Summarizer(self.client, context.meter)
        return Compactor(context, self.store.compactions, summariser, note, self.tools.hooks.compact)

    def build_subagents(self) -> Subagents:
        """Let the session's agent start others."""
        family = SubagentContext(
            session_id=self.context.session_id,
            store=self.store,
            bus=self.tools.bus,
            meter=self.context.meter,
            limits=self.limits,
            profiles=self.tools.profiles.known,
            choice=lambda: self.context.request.choice,
            may_not_end=self.tools.hooks.on_subagent_end,
            build=self._build_child,
        )
        return Subagents(family)

    def _build_child(self, child: Subagent, choice: ModelChoice) -> TurnServices:
        parent = self.context
        permissions = self.tools.permissions.child(child.profile)
        # Requests and stored files are found by a call's id: it must not be one of the session's.
        call_ids = parent.conversation.call_ids
        conversation = Conversation(self.store.messages, child.id, call_ids=call_ids)
        todos = TodoList(child.id, _not_stored)
        runner = self._runner(child, choice, permissions, conversation, todos)
        prompt = replace(parent.request.prompt, plan=nothing)
        request = RequestBuilder(
            ModelInUse(choice), runner.registry, prompt, lambda: child.profile, Audience.SUB
        )
        if choice.name == parent.request.model:
            child.meter.context_window = parent.meter.context_window
        context = ModelContext(child.id, conversation, request, child.meter, child.bus, parent.cap)
        return TurnServices(
            context=context,
            step=ModelStep(self.client, child.bus, self.retry),
            runner=runner,
            inbox=Inbox(MessageQueue(child.bus)),
            compactor=self.build_compactor(context, todos),
            limits=self.limits,
            early_end=child.early_end,
        )

    def _runner(
        self,
        child: Subagent,
        choice: ModelChoice,
        permissions: Permissions,
        conversation: Conversation,
        todos: TodoList,
    ) -> ToolRunner:
        """Build the child's runner, with its own rules and its own record of read files."""
        setup, tools = self.setup, self.tools
        skills = build_skills(
            setup,
            permissions.verdict,
            permissions.allow_reading,
            lambda: loaded_skills(conversation.messages),
        )
        registry = build_registry(
            setup, todos, permissions.verdict, tools.shell, skills, tools.pool, locks=tools.locks
        )
        log = SessionLog(self.store, child.id, conversation, self.changes)
        nearby, traits = nearby_instructions(setup, conversation), traits_of(choice.name)
        scope = Scope(
            child.id,
            setup.directory,
            EditDiagnostics(tools.diagnostics),
            child.agent,
            Audience.SUB,
            lambda: traits.sees_images,
            nearby,
            call_hooks(tools.hooks.runner, log, child.bus, tools.diagnostics),
        )
        guard, masks = OutputGuard(setup.tool_output, setup.redact), tools.runner.masks
        runner = ToolRunner(registry, permissions, log, child.bus, guard, scope, setup.redact, masks)
        inner = InnerCalls(runner, child.bus)
        register_all(registry, agent_tools(no_subagents(setup), inner, child.result))
        registry.adopt(tools.registry)
        self.mcp.add_search_to(registry, inner)
        return runner


async def _not_stored(items: tuple[TodoItem, ...]) -> None:
    """A sub-agent's list ends with it."""
