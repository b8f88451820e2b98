"""What a session is built from: folders, settings, mode and sandbox, all checked before anything opens."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from coder_tui.agent.hooks.runner import Hook
from coder_tui.agent.profiles.profiles import Profiles, built_in
from coder_tui.config.own_files import start_log
from coder_tui.config.paths import Directories
from coder_tui.config.settings import Settings, load_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.protocol.access import Mode
from coder_tui.shell.sandbox.sandbox import (
    NOT_LOOKED_FOR,
    SandboxFolders,
    SandboxStatus,
    SandboxWish,
    home_folder,
    probe,
)
from coder_tui.skills.discover import Found, Search, skill_roots
from coder_tui.storage.half_written import half_written
from coder_tui.text.redact import BY_SHAPE, Redactor
from coder_tui.workspace.files.confine import Workspace

TOOL_OUTPUT = "tool-output"
HALF_WRITTEN = "half-written"


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
    skills: Found = field(default_factory=Found)
    profiles: Profiles = field(default_factory=built_in)
    hooks: tuple[Hook, ...] = ()
    """The person's, and a trusted project's."""
    agent: str = ""
    """The profile that a session begins with, where one was asked for."""
    instructions: str = ""
    """What people left for the model: their own words, and a trusted project's."""
    reads_project: bool = False
    """Whether the project's instructions may be told, those further down included."""
    is_for_one_prompt: bool = False
    """Whether there is no second request that could use what came too late for the first."""
    notices: tuple[str, ...] = ()
    """What a person should know of their files, each in a sentence."""

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
    return replace(setup, sandbox=find_sandbox(setup), skills=find_skills(setup))


def find_sandbox(setup: Setup) -> SandboxStatus:
    """Which sandbox works here. Blocks: a command is run in it."""
    wish = SandboxWish(setup.settings.bash.sandbox)
    return probe(wish, roots_of(setup), sandbox_folders(setup), home_folder())


def find_skills(setup: Setup) -> Found:
    """Every skill that this person and this project have, in the content that is trusted now. Blocks."""
    return skill_search(setup).look()


def skill_search(setup: Setup) -> Search:
    paths = setup.settings.skills.paths
    roots = skill_roots(setup.directory, setup.directories, paths, home_folder())
    return Search(roots, lambda: Trust.load(setup.directories))


def workspace_of(setup: Setup) -> Workspace:
    configured = tuple(Path(root).expanduser() for root in setup.settings.workspace.extra_roots)
    return Workspace(setup.directory, (*configured, *setup.added_roots))


def roots_of(setup: Setup) -> tuple[Path, ...]:
    workspace = workspace_of(setup)
    return (workspace.root, *workspace.extra_roots)


def sandbox_folders(setup: Setup) -> SandboxFolders:
    return SandboxFolders(setup.own_folders, (setup.tool_output,), setup.directories.cache)
