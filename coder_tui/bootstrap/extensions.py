"""Brings tools of others into a registry, behind the start: of files, of packages, of a command.

The commands of a session that people keep in files.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar

from coder_tui.agent.attachments.custom_command import CommandCalls, CommandLoan
from coder_tui.agent.attachments.files import Attach
from coder_tui.agent.calls.permissions import Notify
from coder_tui.agent.session import Session
from coder_tui.agent.turn.turn import TurnServices
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.user_shell import BASH, ShownCommands
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.toolset import Workbench
from coder_tui.commands.discovered import builtin_names
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
from coder_tui.protocol.events import Notice
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.sandbox.sandbox import home_folder
from coder_tui.shell.session_shell import SessionShell
from coder_tui.skills.command_files import CommandPlaces, CommandShelf
from coder_tui.skills.session_skills import SkillShelf
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.contract import (
    GROUP,
    CustomFile,
    CustomToolError,
    add_custom,
    guarded,
    tool_of,
    tools_in,
)
from coder_tui.tools.discovered import DiscoveredTool, DiscoveryCommands, discover
from coder_tui.tools.registry import AnyTool, Origin, Registry

TOOLS = "tools"
PATIENCE = 10.0
"""Seconds that a file may take to be run; one that waits for ever keeps nobody waiting."""
_MOST_PROBLEMS = 5

T = TypeVar("T")


@dataclass(slots=True)
class ForeignTools:
    """Serves one registry; `notify` reaches the person."""

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
        """All of it; what cannot be used is told, one notice a file or command, and the rest is used."""
        if self.setup.is_scratch:
            return
        # Beside each other: a file that hangs must not keep what a command tells of waiting.
        discovering = (self.discover(),) if discovers else ()
        await asyncio.gather(self._load_files(), *discovering)

    async def _load_files(self) -> None:
        for file in await asyncio.to_thread(lambda: list(self._files())):
            if isinstance(file, CustomFile):
                await self._add(file.label, file.origin, partial(tools_in, file))
            else:
                self._tell(file)
        for entry in await asyncio.to_thread(entry_points, group=GROUP):
            await self._add(f"entry point {entry.name}", Origin.CUSTOM, partial(tool_of, entry))

    def _files(self) -> Iterator[CustomFile | str]:
        """Each that may be run, or a sentence on why one may not."""
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
        """Read once, and only the content that the person trusts is what runs."""
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
            for tool in await _beside(partial(guarded, label, made)):
                add_custom(self.registry, tool, origin, label)
        except CustomToolError as error:
            self._tell(f"A tool is not used: {error}")
        except TimeoutError:
            self._tell(f"A tool is not used: {label}: it did not come to an end in {PATIENCE:.0f} seconds")

    async def discover(self) -> None:
        """The tools that the discovering command tells of, where there is one."""
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
            self._tell(f"tools.discovery_command: {safe_line(shown)}{rest}")

    def _tell(self, text: str) -> None:
        self.notify(NoticeLevel.WARNING, text)


async def bring_tools(setup: Setup, bench: Workbench, session: Session) -> None:
    """Tools of others come while the session is used, or before where it is used once."""
    tools = ForeignTools(setup, bench.registry, bench.shell, session.notice)
    session.on_close(tools.close)
    tools.start()
    if setup.is_for_one_prompt:
        await tools.ready()


async def _beside(work: Callable[[], T]) -> T:
    """In a thread that nobody has to wait for: what a person's file does cannot be ended from outside."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: CustomToolError | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        elif result is not None:
            done.set_result(result)

    def run() -> None:
        result: T | None = None
        problem: CustomToolError | None = None
        try:
            result = work()
        except CustomToolError as error:
            problem = error
        with contextlib.suppress(RuntimeError):  # the session is over, and its loop with it
            loop.call_soon_threadsafe(settle, result, problem)

    threading.Thread(target=run, daemon=True).start()
    async with asyncio.timeout(PATIENCE):
        return await done


def build_commands(setup: Setup, skills: SkillShelf) -> CommandShelf:
    """Empty until it is looked through."""
    if setup.is_scratch:
        return CommandShelf(None, frozenset)
    places = CommandPlaces(setup.directory, setup.directories, home_folder(), os.environ)
    return CommandShelf(places, _taken(skills))


def _taken(skills: SkillShelf) -> Callable[[], frozenset[str]]:
    built_in = builtin_names()
    return lambda: built_in | {skill.name.lower() for skill in skills.found.skills}


def command_calls(
    setup: Setup,
    session_id: str,
    bench: Workbench,
    shelf: CommandShelf,
    changes: SessionChanges,
    services: TurnServices,
    files: Attach,
) -> Attach:
    def notify(level: NoticeLevel, text: str) -> None:
        bench.bus.publish(Notice(level, text))

    shown = ShownCommands(
        session_id, setup.directory, bench.bus, bench.desk, lambda: bench.registry.get(BASH), setup.redact
    )
    meter = services.meter
    loan = CommandLoan(bench.desk, services.request, bench.bus, lambda: meter.context_window)
    return CommandCalls(shelf, shown, changes, bench.profiles, loan, files, setup.redact, notify).of


async def bring_commands(session: Session) -> None:
    shelf = session.facts.commands
    await asyncio.to_thread(shelf.refresh)
    for problem in shelf.found.problems:
        session.notice(NoticeLevel.WARNING, problem)
