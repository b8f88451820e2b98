"""What a session is built from: folders, settings, mode and sandbox, all checked before anything opens."""

from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.hooks.runner import Hook
from coder_tui.agent.profiles.profiles import Profiles, built_in
from coder_tui.config.paths import Directories
from coder_tui.config.settings import Settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.protocol.access import Mode
from coder_tui.shell.sandbox.sandbox import (
    NOT_LOOKED_FOR,
    SandboxFolders,
    SandboxSetting,
    SandboxStatus,
    home_folder,
    probe,
)
from coder_tui.skills.discover import FoundSkills, Search, skill_roots
from coder_tui.text.redact import BY_SHAPE, Redactor
from coder_tui.workspace.files.confine import Workspace

TOOL_OUTPUT = "tool-output"


@dataclass(frozen=True, slots=True)
class SetupBasis:
    """What is known first; all else of a setup is found with it."""

    directory: Path
    directories: Directories
    settings: Settings
    sources: Sources
    added_roots: tuple[Path, ...] = ()
    redact: Redactor = BY_SHAPE

    @property
    def tool_output(self) -> Path:
        return self.directories.data / TOOL_OUTPUT

    @property
    def own_folders(self) -> tuple[Path, ...]:
        """The program's own files, which no call may write."""
        file = self.sources.file
        folders = (self.directories.config, self.directories.data)
        return folders if file is None else (*folders, file.path)


@dataclass(frozen=True, slots=True)
class Setup(SetupBasis):
    """What sessions are built from; nothing is open yet."""

    mode: Mode = Mode.ASK
    is_mode_given: bool = False
    is_scratch: bool = False
    sandbox: SandboxStatus = NOT_LOOKED_FOR
    skills: FoundSkills = field(default_factory=FoundSkills)
    profiles: Profiles = field(default_factory=built_in)
    hooks: tuple[Hook, ...] = ()
    """Hooks of the user and of a trusted project."""
    agent: str = ""
    """The profile that a session begins with, if one was asked for."""
    instructions: str = ""
    """The user's instructions, and a trusted project's."""
    reads_project: bool = False
    """Whether the project's instructions are sent, including those of folders below."""
    is_for_one_prompt: bool = False
    """Whether the session runs one prompt only, so that everything must be loaded before it."""
    notices: tuple[str, ...] = ()
    """Warnings about the user's files, a sentence each."""


def find_sandbox(setup: SetupBasis) -> SandboxStatus:
    """Find the sandbox that works here. Blocks: runs a command in it."""
    wish = SandboxSetting(setup.settings.bash.sandbox)
    return probe(wish, roots_of(setup), sandbox_folders(setup), home_folder())


def find_skills(setup: SetupBasis) -> FoundSkills:
    """Find the skills of the user and of the project, in the content that is trusted now. Blocks."""
    return skill_search(setup).look()


def skill_search(setup: SetupBasis) -> Search:
    paths = setup.settings.skills.paths
    roots = skill_roots(setup.directory, setup.directories, paths, home_folder())
    return Search(roots, lambda: Trust.load(setup.directories))


def workspace_of(setup: SetupBasis) -> Workspace:
    configured = tuple(Path(root).expanduser() for root in setup.settings.workspace.extra_roots)
    return Workspace(setup.directory, (*configured, *setup.added_roots))


def roots_of(setup: SetupBasis) -> tuple[Path, ...]:
    workspace = workspace_of(setup)
    return (workspace.root, *workspace.extra_roots)


def sandbox_folders(setup: SetupBasis) -> SandboxFolders:
    return SandboxFolders(setup.own_folders, (setup.tool_output,), setup.directories.cache)
