"""The composition root of the core: settings, store, model, tools and policy become a session."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from coder_tui.agent.attachments import Attachments
from coder_tui.agent.conversation import Conversation
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.limits import Limits
from coder_tui.agent.message_queue import MessageQueue
from coder_tui.agent.model_step import ModelStep
from coder_tui.agent.permissions import DecisionLog, PermissionDesk
from coder_tui.agent.prompt import Environment
from coder_tui.agent.replay import replay
from coder_tui.agent.request_broker import RequestBroker
from coder_tui.agent.request_builder import ModelChoice, RequestBuilder
from coder_tui.agent.session import Session, SessionParts
from coder_tui.agent.session_changes import SessionChanges
from coder_tui.agent.session_log import SessionLog
from coder_tui.agent.session_name import SessionState
from coder_tui.agent.titles import TitleWriter
from coder_tui.agent.tool_runner import CallLog, Scope, ToolRunner
from coder_tui.agent.turn import TurnServices
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.config.log_file import start_log
from coder_tui.config.paths import Directories, display_path
from coder_tui.config.permission_rules import project_layer, user_layer
from coder_tui.config.rule_writer import save_grant
from coder_tui.config.settings import Settings, load_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.llm.catalog import small_model_for
from coder_tui.llm.client import ModelClient
from coder_tui.llm.providers import provider_of
from coder_tui.llm.retry import RetryPolicy
from coder_tui.policy.decide import Action, Policy, Verdict
from coder_tui.policy.paths import Boundaries
from coder_tui.protocol.access import Mode, Target, TargetKind
from coder_tui.protocol.errors import StorageError, UserError
from coder_tui.protocol.events import Notice, TodosChanged
from coder_tui.protocol.messages import AssistantMessage, Message, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Grant
from coder_tui.protocol.todos import TodoItem
from coder_tui.protocol.usage import Usage
from coder_tui.shell.sandbox import (
    NOT_LOOKED_FOR,
    Sandbox,
    SandboxFolders,
    SandboxStatus,
    SandboxWish,
    home_folder,
    probe,
)
from coder_tui.shell.session_shell import SessionShell, ShellOptions
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.leftovers import half_written
from coder_tui.storage.sessions import Store, StoredSession
from coder_tui.text.redact import BY_SHAPE, Redactor
from coder_tui.tools.builtin.fetch import FetchTool
from coder_tui.tools.builtin.todos import SaveTodos, TodoList
from coder_tui.tools.catalogue import builtin_tools
from coder_tui.tools.registry import Registry
from coder_tui.tools.truncate import OutputGuard
from coder_tui.web.web import WebSettings, open_web
from coder_tui.workspace.confine import Workspace
from coder_tui.workspace.snapshots import SnapshotStore

TOOL_OUTPUT = "tool-output"
AUTO = "auto"
HALF_WRITTEN = "half-written"
BLOBS = "blobs"


@dataclass(frozen=True, slots=True)
class Setup:
    """What a core is built from; nothing is open yet."""

    directory: Path
    directories: Directories
    settings: Settings
    sources: Sources
    mode: Mode = Mode.ASK
    added_roots: tuple[Path, ...] = ()
    is_scratch: bool = False
    is_mode_given: bool = False
    redact: Redactor = BY_SHAPE
    sandbox: SandboxStatus = NOT_LOOKED_FOR

    @property
    def tool_output(self) -> Path:
        return self.directories.data / TOOL_OUTPUT

    @property
    def own_folders(self) -> tuple[Path, ...]:
        """The program's own files, which no call writes."""
        file = self.sources.file
        folders = (self.directories.config, self.directories.data)
        return folders if file is None else (*folders, file.path)


def load_setup(
    directory: Path,
    directories: Directories,
    sources: Sources,
    environ: Mapping[str, str],
    mode: Mode | None = None,
    added_roots: tuple[Path, ...] = (),
) -> Setup:
    """Check the settings, make the program's folders and start the log. Blocks: call it off the loop.

    What an earlier run, killed in the middle of a write, left behind is removed.
    """
    settings = load_settings(sources)
    directories.ensure()
    redact = Redactor(environ)
    start_log(directories.log, redact)
    half_written.keep_in(directories.data / HALF_WRITTEN)
    setup = Setup(
        directory,
        directories,
        settings,
        sources,
        mode or Mode.ASK,
        added_roots,
        is_mode_given=mode is not None,
        redact=redact,
    )
    return replace(setup, sandbox=find_sandbox(setup))


def find_sandbox(setup: Setup) -> SandboxStatus:
    """Which sandbox works here. Blocks: a command is run in it."""
    wish = SandboxWish(setup.settings.bash.sandbox)
    return probe(wish, _roots(setup), _sandbox_folders(setup), home_folder())


def build_shell(setup: Setup) -> SessionShell:
    section = setup.settings.bash
    options = ShellOptions(
        section.shell,
        section.timeout_ms,
        section.output_limit_bytes,
        section.pass_environment,
        section.network,
    )
    sandbox = Sandbox(
        setup.sandbox, SandboxWish(section.sandbox), _roots(setup), _sandbox_folders(setup), home_folder()
    )
    return SessionShell(_workspace(setup).root, options, sandbox, setup.tool_output, setup.redact)


def _sandbox_folders(setup: Setup) -> SandboxFolders:
    return SandboxFolders(setup.own_folders, (setup.tool_output,), setup.directories.cache)


def _roots(setup: Setup) -> tuple[Path, ...]:
    workspace = _workspace(setup)
    return (workspace.root, *workspace.extra_roots)


def build_registry(
    setup: Setup, todos: TodoList, decide_on: Callable[[Action], Verdict], shell: SessionShell
) -> Registry:
    """`decide_on` is asked about every hop of a redirect."""
    settings = setup.settings
    flags = frozenset(name for name, is_on in settings.experimental.model_dump().items() if is_on)
    web = open_web(_web_settings(settings), lambda url: decide_on(_fetching(url)).effect)
    return Registry(builtin_tools(_workspace(setup), shell, todos, setup.directories.cache, web), flags)


def _web_settings(settings: Settings) -> WebSettings:
    return WebSettings(
        settings.fetch.proxy,
        settings.fetch.ca_bundle,
        frozenset(settings.fetch.insecure_hosts),
        settings.websearch.base_url,
        os.environ,
    )


def _fetching(url: str) -> Action:
    return Action(FetchTool.name, FetchTool.permission, FetchTool.kind, (Target(TargetKind.ADDRESS, url),))


def build_policy(setup: Setup) -> Policy:
    boundaries = Boundaries(
        roots=tuple(str(root) for root in _roots(setup)),
        own=tuple(str(folder.resolve()) for folder in setup.own_folders),
        readable=(str(setup.tool_output.resolve()),),
    )
    layers = [user_layer(setup.settings.permission, setup.sources)]
    if setup.sources.project is not None:
        layers.append(project_layer(setup.sources.project))
    is_sandboxed = setup.sandbox.guards_everything
    return Policy(boundaries, setup.mode, tuple(layers), is_sandboxed=is_sandboxed)


def _workspace(setup: Setup) -> Workspace:
    configured = tuple(Path(root).expanduser() for root in setup.settings.workspace.extra_roots)
    return Workspace(setup.directory, (*configured, *setup.added_roots))


@dataclass(frozen=True, slots=True)
class Workbench:
    """The tools of one session with everything between a call and its run."""

    bus: EventBus
    broker: RequestBroker
    desk: PermissionDesk
    registry: Registry
    runner: ToolRunner
    shell: SessionShell


class SavedGrants:
    """Writes what a person allowed for good into the settings file that they chose."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def keep(self, grant: Grant) -> str:
        return display_path(await asyncio.to_thread(self._save, grant))

    def _save(self, grant: Grant) -> Path:
        setup = self._setup
        if any(setup.redact(pattern) != pattern for pattern in grant.patterns):
            raise UserError("it holds a secret, which does not belong into a settings file")
        own = setup.sources.file.path if setup.sources.file else None
        return save_grant(grant, setup.directory, setup.directories, Trust.load(setup.directories), own)


def build_workbench(
    setup: Setup, bus: EventBus, todos: TodoList, calls: CallLog, decisions: DecisionLog
) -> Workbench:
    broker = RequestBroker(bus)
    desk = PermissionDesk(
        build_policy(setup),
        broker,
        decisions,
        SavedGrants(setup),
        lambda level, text: bus.publish(Notice(level, text)),
    )
    shell = build_shell(setup)
    registry = build_registry(setup, todos, desk.verdict, shell)
    scope = Scope(todos.session_id, setup.directory)
    guard = OutputGuard(setup.tool_output, setup.redact)
    runner = ToolRunner(registry, desk, calls, bus, guard, scope, setup.redact)
    return Workbench(bus, broker, desk, registry, runner, shell)


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
        return self._session(StoredSession(info, (), {}, (), Usage()))

    async def resume(self, session_id: str) -> Session:
        """Go on with a stored session; calls that a crash cut off get their result first."""
        info = await self.store.get(session_id)
        if not await self.store.claim(info.id):
            raise StorageError(f"session {info.id} is open in another coder-tui; close it there first")
        cut_off = await self.store.close_unfinished(info.id)
        await self.store.set_model(info.id, self.choice.name)
        session = self._session(await self.store.load(info.id))
        if not self.setup.is_mode_given:
            session.set_mode(info.mode)
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
        return SnapshotStore(self.store, BlobStore(self.setup.directories.data / BLOBS))

    def _session(self, stored: StoredSession) -> Session:
        info, bus = stored.info, EventBus()
        conversation = Conversation(self.store, info.id, stored.messages)
        state = SessionState(self.choice.name, info.title, _turns_before(stored))
        changes = SessionChanges(self.snapshots, info.id, lambda: state.turn)
        log = SessionLog(self.store, info.id, conversation, changes)
        todos = TodoList(info.id, _todo_saver(self.store, bus, info.id), stored.todos)
        bench = build_workbench(self.setup, bus, todos, log, log)
        queue = MessageQueue(bus)
        parts = SessionParts(
            info=info,
            store=self.store,
            bus=bus,
            broker=bench.broker,
            desk=bench.desk,
            queue=queue,
            state=state,
            services=self._services(bench, conversation, queue, stored),
            titles=TitleWriter(self.client, self._small_model()),
            changes=changes,
            earlier=tuple(replay(stored)),
            todos=lambda: todos.items,
            is_kept=not self.setup.is_scratch,
        )
        session = Session(parts)
        session.on_close(bench.shell.close)
        return session

    def _small_model(self) -> ModelChoice | None:
        """`auto` is a cheap model of the same provider. Another provider's key must not go to this server."""
        name = self.setup.settings.model.small
        if name == AUTO:
            name = small_model_for(self.choice.name)
        if not name:
            return None
        is_same_server = provider_of(name) == provider_of(self.choice.name)
        return ModelChoice(name, self.choice.api_base if is_same_server else "")

    def _services(
        self, bench: Workbench, conversation: Conversation, queue: MessageQueue, stored: StoredSession
    ) -> TurnServices:
        limits = self.setup.settings.limits
        environment = Environment.here(self.setup.directory, datetime.now().astimezone().date())
        request = RequestBuilder(self.choice, bench.registry, environment, lambda: bench.desk.mode)
        return TurnServices(
            bus=bench.bus,
            conversation=conversation,
            step=ModelStep(self.client, bench.bus, self.retry),
            runner=bench.runner,
            meter=UsageMeter(
                self.store, bench.bus, stored.info.id, stored.usage, _last_context(stored.messages)
            ),
            limits=Limits(limits.max_steps, limits.max_cost, limits.max_minutes, limits.repeated_calls),
            known_tools=bench.registry.names,
            request=request,
            next_queued=queue.take_first,
            attach=self._attachments(bench, request).of,
        )

    def _attachments(self, bench: Workbench, request: RequestBuilder) -> Attachments:
        return Attachments(
            bench.registry.get("read"),
            _workspace(self.setup),
            bench.desk,
            self.setup.redact,
            lambda: request.model,
            lambda level, text: bench.bus.publish(Notice(level, text)),
        )


def _turns_before(stored: StoredSession) -> int:
    """Turns are counted on where a session is resumed: a number names one turn only."""
    return sum(isinstance(message, UserMessage) for message in stored.messages)


def _todo_saver(store: Store, bus: EventBus, session_id: str) -> SaveTodos:
    async def save(items: tuple[TodoItem, ...]) -> None:
        await store.set_todos(session_id, items)
        bus.publish(TodosChanged(items))

    return save


def _last_context(messages: tuple[Message, ...]) -> int:
    """How much of the window the newest reply filled."""
    replies = (message for message in reversed(messages) if isinstance(message, AssistantMessage))
    return next((reply.usage.total_tokens for reply in replies), 0)
