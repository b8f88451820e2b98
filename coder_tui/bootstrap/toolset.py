"""The tools of one session with everything between a call and its run.

What decisions rest on: boundaries, rules, mode, and where answers for good are kept.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.agent.calls.log import CallLog
from coder_tui.agent.calls.nested import InnerCalls
from coder_tui.agent.calls.permissions import DecisionLog, PermissionDesk
from coder_tui.agent.calls.runner import Scope, ToolRunner, blind
from coder_tui.agent.context.instructions import Nearby, nothing_nearby
from coder_tui.agent.diagnostics.edits import AgentEdits
from coder_tui.agent.diagnostics.session import ProblemDesk
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.hooks.turn_hooks import TurnHooks
from coder_tui.agent.profiles.switch import NotKept, ProfileKeeper, ProfileSwitch
from coder_tui.agent.request_broker import RequestBroker
from coder_tui.bootstrap.hooks import build_hooks, call_hooks
from coder_tui.bootstrap.language_servers import build_pool, tell_nobody
from coder_tui.bootstrap.setup import Setup, roots_of, sandbox_folders, skill_search, workspace_of
from coder_tui.config.paths import display_path
from coder_tui.config.project_settings import project_layer, user_layer
from coder_tui.config.settings import Settings
from coder_tui.config.trust import Trust
from coder_tui.config.write import save_grant
from coder_tui.lsp.pool import LspPool
from coder_tui.policy.decide import Action, Policy, Verdict
from coder_tui.policy.findable import findable_by
from coder_tui.policy.paths import Boundaries
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Notice
from coder_tui.protocol.requests import Grant
from coder_tui.shell.sandbox.sandbox import Sandbox, SandboxWish, home_folder, home_folders
from coder_tui.shell.session_shell import SessionShell, ShellOptions
from coder_tui.skills.session_skills import SkillShelf, opens_nothing
from coder_tui.tasks import Background
from coder_tui.tools.builtin.batch import BatchTool
from coder_tui.tools.builtin.fetch import FetchTool
from coder_tui.tools.builtin.skill import SkillTool
from coder_tui.tools.builtin.todo import TodoList
from coder_tui.tools.catalog import agent_tools, builtin_tools, knowledge_tools, language_tools, memory_tools
from coder_tui.tools.ports import NOBODY_THERE, NoFinisher, NoInnerCalls, NoSubagents, PersonPorts
from coder_tui.tools.registry import Registry
from coder_tui.tools.truncate import OutputGuard
from coder_tui.web.web import WebSettings, open_web
from coder_tui.workspace.files.ledger import FileLocks


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


NOT_KEPT = NotKept()


@dataclass(frozen=True, slots=True)
class Workbench:
    """The tools of one session with everything between a call and its run."""

    bus: EventBus
    broker: RequestBroker
    desk: PermissionDesk
    registry: Registry
    runner: ToolRunner
    shell: SessionShell
    profiles: ProfileSwitch
    background: Background
    locks: FileLocks
    skills: SkillShelf
    pool: LspPool
    problems: ProblemDesk
    hooks: TurnHooks

    async def close(self) -> None:
        """End what runs beside the session: commands in the background, language servers."""
        await self.problems.close()
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
        setup.sandbox, SandboxWish(section.sandbox), roots_of(setup), sandbox_folders(setup), home_folder()
    )
    return SessionShell(workspace_of(setup).root, options, sandbox, setup.tool_output, setup.redact)


def build_skills(
    setup: Setup, decide_on: Callable[[Action], Verdict], let_read: Callable[[Path], None]
) -> SkillShelf:
    """`let_read` opens the folder of a skill that is loaded."""
    return SkillShelf(skill_search(setup), setup.skills, decide_on, let_read)


def build_registry(
    setup: Setup,
    todos: TodoList,
    decide_on: Callable[[Action], Verdict],
    shell: SessionShell,
    person: PersonPorts = NOBODY_THERE,
    locks: FileLocks | None = None,
    pool: LspPool | None = None,
) -> Registry:
    """`decide_on` is asked about every hop of a redirect. What needs a session is put in its place later.

    Without a `pool` the tools that ask language servers can be looked at, and are not to be run.
    """
    settings = setup.settings
    flags = frozenset(name for name, is_on in settings.experimental.model_dump().items() if is_on)
    web = open_web(_web_settings(settings), lambda url: decide_on(_fetching(url)).effect)
    findable = findable_by(decide_on)
    tools = builtin_tools(
        workspace_of(setup), shell, todos, setup.directories.cache, web, findable, person, locks
    )
    agents = {profile.name: profile.description for profile in setup.profiles.serving}
    skills = build_skills(setup, decide_on, opens_nothing)
    return Registry(
        (
            *tools,
            *language_tools(workspace_of(setup), pool or build_pool(setup, tell_nobody)),
            *knowledge_tools(workspace_of(setup), shell, skills, os.environ, setup.redact),
            *memory_tools(
                workspace_of(setup),
                setup.directories.config,
                setup.redact,
                locks,
                reads_project=setup.reads_project,
            ),
            *agent_tools(NoSubagents(agents), NoInnerCalls(), NoFinisher()),
        ),
        flags,
    )


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


def build_workbench(
    setup: Setup,
    bus: EventBus,
    todos: TodoList,
    calls: CallLog,
    decisions: DecisionLog,
    keeper: ProfileKeeper = NOT_KEPT,
    plan: str = "",
    sees_images: Callable[[], bool] = blind,
    nearby: Nearby = nothing_nearby,
) -> Workbench:
    """`keeper` and `plan` are a session's: who leads it, and the plan that it carries out."""
    broker = RequestBroker(bus)
    desk = PermissionDesk(
        build_policy(setup),
        broker,
        decisions,
        SavedGrants(setup),
        lambda level, text: bus.publish(Notice(level, text)),
    )
    background = Background()
    profiles = ProfileSwitch(todos.session_id, setup.profiles, desk, bus, keeper, background.start, plan)
    shell = build_shell(setup)
    locks = FileLocks()
    pool = build_pool(setup, bus.publish)
    registry = build_registry(setup, todos, desk.verdict, shell, PersonPorts(broker, profiles), locks, pool)
    problems = ProblemDesk(pool, workspace_of(setup), bus.publish)
    hooks = TurnHooks(build_hooks(setup, todos.session_id, shell, desk, bus), background.start)
    for hear in (problems.hear, hooks.hear):
        bus.subscribe(hear)
    scope = Scope(
        todos.session_id,
        setup.directory,
        sees_images=sees_images,
        nearby=nearby,
        problems=AgentEdits(problems),
        hooks=call_hooks(hooks.runner, calls, bus),
    )
    guard = OutputGuard(setup.tool_output, setup.redact)
    runner = ToolRunner(registry, desk, calls, bus, guard, scope, setup.redact)
    skills = build_skills(setup, desk.verdict, desk.let_read)
    registry.renew(BatchTool(InnerCalls(runner, bus)), SkillTool(skills))
    return Workbench(
        *(bus, broker, desk, registry, runner, shell, profiles, background, locks, skills, pool, problems),
        hooks,
    )
