"""Read the files of a project that affect the program: bounded, and never through a link that leads out.

Also finds instruction files, and the settings that a project can never set, trusted or not.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.config.settings_file import KeyPath

CONFIG_NAMES = (".coder-tui/config.toml", ".coder-tui/config.json")
SERVERS_NAME = ".mcp.json"
SKILL_FOLDERS = (".agents/skills", ".claude/skills", ".coder-tui/skills")
"""Weakest first: for the same name, the later folder wins."""
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
"""Scripts in these folders need trust, because hooks run them. Other scripts run confined."""
FOLDERS = (*SKILL_FOLDERS, *AGENT_FOLDERS, *COMMAND_FOLDERS, *HOOK_FOLDERS, TOOL_FOLDER)

LARGEST = 1_000_000
_MOST_FILES = 2_000


class ProjectFileError(Exception):
    """A file of a project cannot be used. The message says why."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of a project. `name` is relative to the workspace, with slashes.

    Trust applies to exactly this content.
    """

    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def read_project_file(workspace: Path, name: str) -> ProjectFile | None:
    """Return the file, or None if it does not exist. Raises `ProjectFileError` if it must not be read."""
    path = workspace / name
    # The sandbox reserves names with empty folders, which are not files either.
    if not os.path.lexists(path) or (not path.is_symlink() and path.is_dir()):
        return None
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(workspace)):
        raise ProjectFileError("leads out of the project through a link")
    try:
        # A named pipe must not block.
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
    """Return the files below these folders that extend the program, in a stable order."""
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
        # A link to a folder is not followed, but must be listed.
        links = [name for name in folders if _is_link(Path(place, name))]
        for name in (*names, *links):
            yield Path(place, name).relative_to(workspace).as_posix()


def _is_link(path: Path) -> bool:
    """Return whether the path is a link. False in a folder without permission."""
    return os.path.lexists(path) and path.is_symlink()


INSTRUCTIONS = ("AGENTS.override.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
"""Of each folder the first of these is read."""
ANY_CONTENT = "any content"
"""Used instead of a hash: instructions permit nothing, and people edit them often."""


def instruction_file(folder: Path) -> Path | None:
    return next((path for name in INSTRUCTIONS if _is_file(path := folder / name)), None)


def _is_file(path: Path) -> bool:
    """Return whether the path is a file. False for a link into a folder without permission."""
    return os.access(path, os.F_OK) and path.is_file()


def project_folders(workspace: Path) -> tuple[Path, ...]:
    """Return the folders from the repository's root to the workspace, or only the workspace."""
    around = (workspace, *workspace.parents)
    for count, folder in enumerate(around):
        if (folder / ".git").exists():
            return tuple(reversed(around[: count + 1]))
    return (workspace,)


def instruction_names(workspace: Path) -> Iterator[str]:
    """Yield the existing instruction files, outermost first, relative to the workspace."""
    folders = project_folders(workspace)
    for depth, folder in enumerate(folders):
        if (path := instruction_file(folder)) is not None:
            yield "../" * (len(folders) - 1 - depth) + path.name


# A proxy or a certificate lets its owner read every conversation, including keys. A variable that is passed
# on gives a secret to each command. An agent's table would be mixed with the user's agent of that name.
# Users press keys by habit, so a changed key would answer for them. Trust is bound to the content of a
# project's own skills, which is not possible for a folder that it names. Users rely on how much can be
# undone.
_NEVER: frozenset[KeyPath] = frozenset(
    {
        ("agents", "custom"),
        ("bash", "pass_environment"),
        ("fetch", "insecure_hosts"),
        ("fetch", "proxy"),
        ("fetch", "ca_bundle"),
        ("model", "proxy"),
        ("model", "ca_bundle"),
        ("skills", "paths"),
        ("ui", "keys"),
        ("undo", "commands"),
        ("undo", "most_files"),
        ("undo", "largest_file_mb"),
        ("undo", "keep_days"),
        ("undo", "keep_mb"),
    }
)
_SECRET_ENDINGS = ("key", "token", "secret", "password")


def is_never_used(path: KeyPath) -> bool:
    key = str(path[-1]).casefold()
    return path in _NEVER or (len(path) == 2 and key.endswith(_SECRET_ENDINGS))


def drop_never_used(values: Mapping[str, object]) -> tuple[dict[str, object], tuple[KeyPath, ...]]:
    """Return the values that a project may set, and the keys of those that it may not."""
    kept: dict[str, object] = {}
    left_out: list[KeyPath] = []
    for section, table in values.items():
        if not isinstance(table, dict) or section == "permission":
            kept[section] = table
            continue
        left_out += [(section, key) for key in table if is_never_used((section, key))]
        kept[section] = {key: value for key, value in table.items() if not is_never_used((section, key))}
    return kept, tuple(left_out)
