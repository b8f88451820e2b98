"""Reads the files of a project that could steer the program: bounded, never through a link that leads out."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

CONFIG_NAMES = (".coder-tui/config.toml", ".coder-tui/config.json")
SERVERS_NAME = ".mcp.json"
SKILL_FOLDERS = (".agents/skills", ".claude/skills", ".coder-tui/skills")
"""Weakest first: of one name the later holds."""
AGENT_FOLDERS = (".claude/agents", ".opencode/agent", ".opencode/agents", ".coder-tui/agents")
COMMAND_FOLDERS = (
    ".claude/commands",
    ".gemini/commands",
    ".opencode/command",
    ".opencode/commands",
    ".coder-tui/commands",
)
TOOL_FOLDER = ".coder-tui/tools"
HOOK_FOLDERS = (".claude/hooks", ".coder-tui/hooks")
"""What hooks run is looked for here; other scripts are the project's own, and run confined."""
FOLDERS = (*SKILL_FOLDERS, *AGENT_FOLDERS, *COMMAND_FOLDERS, *HOOK_FOLDERS, TOOL_FOLDER)

LARGEST = 1_000_000
_MOST_FILES = 2_000


class ProjectFileError(Exception):
    """A project's file cannot be used; the sentence says why."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """`name` is relative to the workspace, with slashes; trust goes to this content and no other."""

    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def read_project_file(workspace: Path, name: str) -> ProjectFile | None:
    """None where there is no such file; `ProjectFileError` where it is not one to read."""
    path = workspace / name
    # The sandbox keeps a name free by an empty folder; that is no file, either.
    if not os.path.lexists(path) or (not path.is_symlink() and path.is_dir()):
        return None
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(workspace)):
        raise ProjectFileError("leads out of the project through a link")
    try:
        # A named pipe must not block whoever only looks.
        descriptor = os.open(
            os.path.realpath(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ProjectFileError(f"cannot be read: {error.strerror or error}") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ProjectFileError("is not a regular file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ProjectFileError(f"is larger than {LARGEST} bytes")
    return ProjectFile(name, data)


def extension_names(workspace: Path, folders: Iterable[str]) -> tuple[str, ...]:
    """The files below these of the folders that extend the program, in a stable order."""
    names = sorted(name for folder in folders for name in files_below(workspace, folder))
    if len(names) > _MOST_FILES:
        raise ProjectFileError(f"holds more than {_MOST_FILES} files")
    return tuple(names)


def files_below(workspace: Path, folder: str) -> Iterator[str]:
    start = workspace / folder
    if _is_link(start):
        yield folder
        return
    for count, (place, folders, names) in enumerate(os.walk(start)):
        if count > _MOST_FILES:
            raise ProjectFileError(f"holds more than {_MOST_FILES} folders")
        # A link to a folder is not entered, yet must be told.
        links = [name for name in folders if _is_link(Path(place, name))]
        for name in (*names, *links):
            yield Path(place, name).relative_to(workspace).as_posix()


def _is_link(path: Path) -> bool:
    """In a folder that one may not look into, nothing is anything."""
    return os.path.lexists(path) and path.is_symlink()
