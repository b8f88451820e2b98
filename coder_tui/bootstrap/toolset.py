"""Build the tools of one session, and what a call passes on its way to them: policy, permissions, hooks."""

import asyncio
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.calls.log import NoLog, SessionLog
from coder_tui.agent.calls.nested import InnerCalls
from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.calls.runner import Scope, ToolRunner, sees_no_images
from coder_tui.agent.context.instructions import Nearby, nothing_nearby
from coder_tui.agent.diagnostics.session import EditDiagnostics, SessionDiagnostics
from coder_tui.agent.event_bus import EventBus, RequestBroker
from coder_tui.agent.hooks.session_hooks import TurnHooks
from coder_tui.agent.profiles.profiles import Profile
from coder_tui.agent.profiles.switch import ProfileSwitch
from coder_tui.bootstrap.hooks import build_hooks, call_hooks
from coder_tui.bootstrap.language_servers import build_pool, tell_nobody
from coder_tui.bootstrap.setup import Setup, roots_of, sandbox_folders, skill_search, workspace_of
from coder_tui.config.paths import display_path
from coder_tui.config.project_settings import project_layer, user_layer
from coder_tui.config.settings import Settings
from coder_tui.config.trust import Trust
from coder_tui.config.write import save_grant
from coder_tui.lsp.pool import LspPool
from coder_tui.policy.decide import Action, Policy, Verdict, findable_by
from coder_tui.policy.paths import Boundaries
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.requests import Grant
from coder_tui.shell.sandbox.sandbox import Sandbox, SandboxSetting, home_folder, home_folders
from coder_tui.shell.session_shell import SessionShell, ShellOptions
from coder_tui.skills.session_skills import SessionSkills, open_nothing
from coder_tui.storage.session_state import ActiveProfileTable
from coder_tui.tasks import BackgroundTasks
from coder_tui.tools.builtin.fetch import FetchTool
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.catalog import agent_tools, builtin_tools, knowledge_tools, language_tools, memory_tools
from coder_tui.tools.ports import (
    NOBODY_THERE,
    NoFinisher,
    NoInnerCalls,
    NoSubagents,
    UserPorts,
)
from coder_tui.tools.registry import AnyTool, Registry
from coder_tui.tools.truncate import OutputGuard
from coder_tui.web.web import WebSettings, open_web
from coder_tui.workspace.files.text import FileLocks


def build_policy(setup: Setup) -> Policy:
    boundaries = Boundaries(
        roots=tuple(str(root) for root in roots_of(setup)),
        own=tuple(str(folder.resolve()) for folder in setup.own_folders),
        readable=(str(setup.tool_output.resolve()), str(setup.directories.pictures.resolve())),
        homes=tuple(str(home) for home in home_folders(home_folder())),
    )
    layers = [user_layer(setup.settings.permission, setup.sources)]
    if setup.sources.project is not None:
        layers.append(project_layer(setup.sources.project))
    is_sandboxed = setup.sandbox.guards_everything
    return Policy(boundaries, setup.mode, tuple(layers), is_sandboxed=is_sandboxed)


class SavedGrants:
    """Saves permanent grants to the settings file that the user chose."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    async def save(self, grant: Grant) -> str:
        return display_path(await asyncio.to_thread(self._save, grant))

    def _save(self, grant: Grant) -> Path:
        setup = self._setup
        if any(setup.redact(pattern) != pattern for pattern in grant.patterns):
            raise UserError("it contains a secret, which does not belong in a settings file")
        own = setup.sources.file.path if setup.sources.file else None
        return save_grant(grant, setup.directory, setup.directories, Trust.load(setup.directories), own)


@dataclass(frozen=True, slots=True)
class SessionTools:
    """The tools of one session with everything between a call and its run."""

    session_id: str
    bus: EventBus
    broker: RequestBroker
    permissions: Permissions
    registry: Registry
    runner: ToolRunner
    inner: InnerCalls
    shell: SessionShell
    profiles: ProfileSwitch
    background: BackgroundTasks
    locks: FileLocks
    skills: SessionSkills
    pool: LspPool
    diagnostics: SessionDiagnostics
    hooks: TurnHooks

    async def close(self) -> None:
        """End what runs alongside the session: background commands, language servers."""
        await self.diagnostics.close()
        await asyncio.gather(self.shell.close(), self.pool.close())


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
        setup.sandbox, SandboxSetting(section.sandbox), roots_of(setup), sandbox_folders(setup), home_folder()
    )
    return SessionShell(workspace_of(setup).root, options, sandbox, setup.tool_output, setup.redact)


def build_skills(
    setup: Setup,
    decide_on: Callable[[Action], Verdict],
    allow_reading: Callable[[Path], None],
    held: Callable[[], tuple[str, ...]] | None = None,
) -> SessionSkills:
    """`allow_reading` opens the folder of a skill that is loaded; `held` names those that are."""
    return SessionSkills(skill_search(setup), setup.skills, decide_on, allow_reading, held)


def build_registry(
    setup: Setup,
    todos: TodoList,
    decide_on: Callable[[Action], Verdict],
    shell: SessionShell,
    skills: SessionSkills,
    pool: LspPool,
    user: UserPorts = NOBODY_THERE,
    locks: FileLocks | None = None,
) -> Registry:
    """Build the registry; `decide_on` is asked about every hop of a redirect.

    Tools that start other agents or calls are registered later: their runners are built on this registry.
    """
    settings = setup.settings
    flags = frozenset(name for name, is_on in settings.experimental.model_dump().items() if is_on)
    web = open_web(_web_settings(settings), lambda url: decide_on(_fetching(url)).effect)
    findable = findable_by(decide_on)
    tools = builtin_tools(
        workspace_of(setup), shell, todos, setup.directories.cache, web, findable, user, locks
    )
    return Registry(
        (
            *tools,
            *language_tools(workspace_of(setup), pool),
            *knowledge_tools(workspace_of(setup), shell, skills, os.environ, setup.redact),
            *memory_tools(
                workspace_of(setup),
                setup.directories.config,
                setup.redact,
                locks,
                reads_project=setup.reads_project,
            ),
        ),
        flags,
    )


def listed_registry(
    setup: Setup, todos: TodoList, decide_on: Callable[[Action], Verdict], shell: SessionShell
) -> Registry:
    """Build tools that are only listed, as a model would see them."""
    skills = build_skills(setup, decide_on, open_nothing)
    registry = build_registry(setup, todos, decide_on, shell, skills, build_pool(setup, tell_nobody))
    register_all(registry, agent_tools(no_subagents(setup), NoInnerCalls(), NoFinisher()))
    return registry


def register_all(registry: Registry, tools: Iterable[AnyTool]) -> None:
    for tool in tools:
        registry.register(tool)


def no_subagents(setup: Setup) -> NoSubagents:
    return NoSubagents({profile.name: profile.description for profile in setup.profiles.serving})


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPorts:
    """What tools use of their session; the defaults serve calls outside a session, which store nothing."""

    log: SessionLog | NoLog = field(default_factory=NoLog)
    profiles: ActiveProfileTable | None = None
    on_profile_change: Callable[[Profile], None] | None = None
    plan: str = ""
    """The approved plan that the session carries out."""
    sees_images: Callable[[], bool] = sees_no_images
    nearby: Nearby = nothing_nearby
    loaded_skills: Callable[[], tuple[str, ...]] | None = None
    """The skills that are part of the conversation."""


def build_session_tools(setup: Setup, bus: EventBus, todos: TodoList, ports: ToolPorts) -> SessionTools:
    """Build all but the tools that start other agents or calls: their runners are built on these."""
    broker, background, locks = RequestBroker(bus), BackgroundTasks(), FileLocks()
    permissions = Permissions(build_policy(setup), broker, ports.log, SavedGrants(setup), bus.notify)
    profiles = ProfileSwitch(
        *(todos.session_id, setup.profiles, permissions, bus, ports.profiles, background.start, ports.plan),
        on_change=ports.on_profile_change,
    )
    shell, pool = build_shell(setup), build_pool(setup, bus.publish)
    skills = build_skills(setup, permissions.verdict, permissions.allow_reading, ports.loaded_skills)
    user = UserPorts(broker, profiles)
    registry = build_registry(setup, todos, permissions.verdict, shell, skills, pool, user, locks)
    patience = setup.settings.tools.edit_wait_sec
    diagnostics = SessionDiagnostics(pool, workspace_of(setup), bus.publish, patience)
    hooks = TurnHooks(build_hooks(setup, todos.session_id, shell, permissions, bus), background.start)
    for listener in (diagnostics.on_server_event, hooks.on_event):
        bus.subscribe(listener)
    scope = Scope(
        todos.session_id,
        setup.directory,
        EditDiagnostics(diagnostics),
        sees_images=ports.sees_images,
        nearby=ports.nearby,
        hooks=call_hooks(hooks.runner, ports.log, bus, diagnostics),
    )
    guard = OutputGuard(setup.tool_output, setup.redact)
    runner = ToolRunner(registry, permissions, ports.log, bus, guard, scope, setup.redact)
    return SessionTools(
        session_id=todos.session_id,
        bus=bus,
        broker=broker,
        permissions=permissions,
        registry=registry,
        runner=runner,
        inner=InnerCalls(runner, bus),
        shell=shell,
        profiles=profiles,
        background=background,
        locks=locks,
        skills=skills,
        pool=pool,
        diagnostics=diagnostics,
        hooks=hooks,
    )


def build_tools_alone(setup: Setup, bus: EventBus, todos: TodoList) -> SessionTools:
    """Build tools for calls outside a session: nothing is stored, and there is no model for sub-agents."""
    tools = build_session_tools(setup, bus, todos, ToolPorts())
    register_all(tools.registry, agent_tools(no_subagents(setup), tools.inner, NoFinisher()))
    return tools
