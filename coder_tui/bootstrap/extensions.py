"""Load custom tools (from files, packages and a discovery command) and custom commands for a session."""

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

from coder_tui.agent.attachments.custom_command import CommandCalls, TurnOverrides
from coder_tui.agent.calls.permissions import Notify
from coder_tui.agent.context.compaction import ModelContext
from coder_tui.agent.pending import Attach
from coder_tui.agent.session import Session
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.user_shell import UserCommandRunner
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import SessionTools
from coder_tui.commands.builtin import builtin_names
from coder_tui.config.paths import display_path
from coder_tui.config.project import (
    LARGEST,
    TOOL_FOLDER,
    ProjectFileError,
    extension_names,
    read_project_file,
)
from coder_tui.config.sources import Layer, layer_of
from coder_tui.config.trust import Trust
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.sandbox.sandbox import home_folder
from coder_tui.shell.session_shell import SessionShell
from coder_tui.skills.command_files import CommandFiles, ExtensionPlaces
from coder_tui.skills.session_skills import SessionSkills
from coder_tui.tasks import in_daemon_thread
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.contract import (
    GROUP,
    CustomFile,
    CustomToolError,
    add_custom,
    load_entry_point,
    load_guarded,
    load_tools,
)
from coder_tui.tools.discovered import DiscoveredTool, DiscoveryCommands, discover
from coder_tui.tools.registry import AnyTool, Origin, Registry

TOOLS = "tools"
PATIENCE = 10.0
"""Seconds that a file may take to load; nothing waits longer for one that hangs."""
_MOST_PROBLEMS = 5


@dataclass(slots=True)
class ForeignTools:
    """Loads tools into one registry."""

    setup: Setup
    registry: Registry
    shell: SessionShell
    notify: Notify
    _loading: asyncio.Task[None] | None = field(default=None, init=False)

    def start(self) -> None:
        self._loading = asyncio.create_task(self.load())

    async def ready(self) -> None:
        if self._loading is not None:
            await asyncio.wait({self._loading})

    async def close(self) -> None:
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait({self._loading})

    async def load(self, *, discovers: bool = True) -> None:
        """Load all tools; publish one notice for each file or command that cannot be used."""
        if self.setup.is_scratch:
            return
        # At the same time: a file that hangs must not delay the tools of a command.
        discovering = (self.discover(),) if discovers else ()
        await asyncio.gather(self._load_files(), *discovering)

    async def _load_files(self) -> None:
        for file in await asyncio.to_thread(lambda: list(self._files())):
            if isinstance(file, CustomFile):
                await self._add(file.label, file.origin, partial(load_tools, file))
            else:
                self._warn(file)
        for entry in await asyncio.to_thread(entry_points, group=GROUP):
            await self._add(f"entry point {entry.name}", Origin.CUSTOM, partial(load_entry_point, entry))

    def _files(self) -> Iterator[CustomFile | str]:
        """Yield each file that may be loaded, or why it may not."""
        folder = self.setup.directories.config / TOOLS
        for path in sorted(folder.glob("[!_]*.py")):
            try:
                with path.open("rb") as opened:
                    data = opened.read(LARGEST)
            except OSError as error:
                yield f"{display_path(path)}: cannot be read: {error.strerror or error}"
                continue
            yield CustomFile(path, data, display_path(path), Origin.CUSTOM)
        yield from self._project_files(self.setup.directory)

    def _project_files(self, workspace: Path) -> Iterator[CustomFile | str]:
        """Read each file once: exactly the content that the user trusts is loaded."""
        try:
            names = extension_names(workspace, (TOOL_FOLDER,))
        except ProjectFileError as error:
            yield f"{TOOL_FOLDER} {error}; not used"
            return
        trust, untrusted = Trust.load(self.setup.directories), list[str]()
        for name in (each for each in names if Path(each).parent.as_posix() == TOOL_FOLDER):
            try:
                file = read_project_file(workspace, name)
            except ProjectFileError as error:
                yield f"{safe_line(name)}: {error}; not used"
                continue
            if file is None or not name.endswith(".py") or Path(name).name.startswith("_"):
                continue
            if trust.trusts(workspace, file):
                yield CustomFile(workspace / name, file.data, name, Origin.PROJECT)
            else:
                untrusted.append(name)
        if untrusted:
            listed = safe_line(", ".join(untrusted))
            yield f"found {listed}, not used: this folder is not trusted; 'coder-tui trust' asks"

    async def _add(self, label: str, origin: Origin, made: Callable[[], tuple[AnyTool, ...]]) -> None:
        try:
            # Nobody has to wait for the thread: a file that hangs cannot be stopped from outside.
            async with asyncio.timeout(PATIENCE):
                loaded = await in_daemon_thread(partial(load_guarded, label, made), "custom tool")
            for tool in loaded:
                add_custom(self.registry, tool, origin, label)
        except CustomToolError as error:
            self._warn(f"A tool is not used: {error}")
        except TimeoutError:
            self._warn(f"A tool is not used: {label}: it took longer than {PATIENCE:.0f} seconds to load")

    async def discover(self) -> None:
        """Register the tools that the discovery command lists, if there is one."""
        section = self.setup.settings.tools
        if not section.discovery_command:
            return
        commands = DiscoveryCommands(
            section.discovery_command,
            section.call_command,
            section.discovery_timeout_sec,
            section.call_timeout_sec,
            is_own=layer_of(self.setup.sources, ("tools", "discovery_command")) is not Layer.PROJECT,
        )
        found = await discover(commands, self.shell)
        for declaration in found.declarations:
            if declaration.name not in self.registry.names:
                tool = DiscoveredTool(declaration, commands, self.shell)
                self.registry.register(tool, origin=Origin.DISCOVERED)
        if found.problems:
            shown = "; ".join(found.problems[:_MOST_PROBLEMS])
            more = len(found.problems) - _MOST_PROBLEMS
            rest = f"; and {more} more" if more > 0 else ""
            self._warn(f"tools.discovery_command: {safe_line(shown)}{rest}")

    def _warn(self, text: str) -> None:
        self.notify(NoticeLevel.WARNING, text)


async def load_foreign_tools(setup: Setup, tools: SessionTools, session: Session) -> None:
    """Load custom tools while the session is used, or before it if it runs one prompt only."""
    foreign = ForeignTools(setup, tools.registry, tools.shell, session.notice)
    session.on_close(foreign.close)
    foreign.start()
    if setup.is_for_one_prompt:
        await foreign.ready()


def build_commands(setup: Setup, skills: SessionSkills) -> CommandFiles:
    """Build the list of custom commands, empty until it is refreshed."""
    if setup.is_scratch:
        return CommandFiles(None, frozenset)
    places = ExtensionPlaces(setup.directory, setup.directories, home_folder(), os.environ)
    return CommandFiles(places, _taken(skills))


def _taken(skills: SessionSkills) -> Callable[[], frozenset[str]]:
    built_in = builtin_names()
    return lambda: built_in | {skill.name.lower() for skill in skills.found.skills}


def build_command_calls(
    commands: CommandFiles,
    runner: UserCommandRunner,
    tools: SessionTools,
    changes: SessionChanges,
    context: ModelContext,
    files: Attach,
) -> CommandCalls:
    overrides = TurnOverrides(
        tools.permissions, context.request, tools.bus, lambda: context.meter.context_window
    )
    return CommandCalls(
        *(commands, runner, changes, tools.profiles, overrides, files, runner.redact, tools.bus.notify)
    )


async def load_commands(session: Session) -> None:
    commands = session.report.commands
    await asyncio.to_thread(commands.refresh)
    for problem in commands.found.problems:
        session.notice(NoticeLevel.WARNING, problem)
