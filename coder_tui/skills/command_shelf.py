"""The commands that people keep in files: their own, and a project's in the content that is trusted."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import (
    COMMAND_FOLDERS,
    LARGEST,
    ProjectFileError,
    extension_names,
    read_project_file,
)
from coder_tui.config.trust import Trust
from coder_tui.skills.command_file import CommandFile, CommandFileError, is_command_file, read_command
from coder_tui.text.safe_text import safe_line

USER, PROJECT = "user", "project"
"""Stand before a name that is taken: `project:review`."""
_MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class FoundCommands:
    """`problems` are sentences on files that are not used."""

    commands: tuple[CommandFile, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandPlaces:
    """Where to look; `home` is the person's folder."""

    workspace: Path
    directories: Directories
    home: Path
    environ: Mapping[str, str]

    def own(self) -> Iterator[Path]:
        """Weakest first: of one name the later holds."""
        config = Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")
        opencode = Path(self.environ.get("OPENCODE_CONFIG_DIR") or config / "opencode")
        yield self.home / ".claude/commands"
        yield self.home / ".gemini/commands"
        yield opencode / "command"
        yield opencode / "commands"
        yield self.directories.config / "commands"


class CommandShelf:
    """`taken` tells the names that no file may have: built-in commands and skills."""

    def __init__(self, places: CommandPlaces | None, taken: Callable[[], frozenset[str]]) -> None:
        self.found = FoundCommands()
        self._places = places
        self._taken = taken

    def refresh(self) -> None:
        """Look again. Blocks: reads files, runs nothing."""
        if self._places is None:
            return
        found = find_commands(self._places, Trust.load(self._places.directories), self._taken())
        if found != self.found:
            self.found = found

    def find(self, name: str) -> CommandFile | None:
        wanted = name.lower()
        return next((command for command in self.found.commands if command.name == wanted), None)


def no_commands() -> CommandShelf:
    """For sessions that need none."""
    return CommandShelf(None, frozenset)


def find_commands(places: CommandPlaces, trust: Trust, taken: frozenset[str]) -> FoundCommands:
    """Of one name the later folder holds; what is taken gets a word before it. Blocks."""
    own: dict[str, CommandFile] = {}
    project: dict[str, CommandFile] = {}
    problems: list[str] = []
    for found, table in ((_own(places), own), (_of_project(places.workspace, trust), project)):
        for each in found:
            if isinstance(each, CommandFile):
                table[each.name] = each
            else:
                problems.append(each)
    named = {_free(name, USER, taken): command for name, command in own.items()}
    named |= {_free(name, PROJECT, taken | named.keys()): command for name, command in project.items()}
    commands = tuple(replace(named[name], name=name) for name in sorted(named))
    return FoundCommands(commands, tuple(problems))


def _free(name: str, prefix: str, taken: frozenset[str]) -> str:
    return f"{prefix}:{name}" if name in taken else name


def _own(places: CommandPlaces) -> Iterator[CommandFile | str]:
    for folder in places.own():
        for path in _files(folder):
            label = display_path(path)
            try:
                with path.open("rb") as file:
                    data = file.read(LARGEST)
                yield read_command(path.relative_to(folder).as_posix(), data, label, is_own=True)
            except OSError as error:
                yield f"{label}: cannot be read: {error.strerror or error}"
            except CommandFileError as error:
                yield safe_line(str(error))


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(place, name) for name in sorted(names) if is_command_file(name)]
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _of_project(workspace: Path, trust: Trust) -> Iterator[CommandFile | str]:
    untrusted: list[str] = []
    for folder in COMMAND_FOLDERS:
        try:
            names = extension_names(workspace, (folder,))
        except ProjectFileError:
            continue  # told where trust is asked for
        for name in filter(is_command_file, names):
            try:
                file = read_project_file(workspace, name)
                if file is None:
                    continue
                if trust.trusts(workspace, file):
                    inner = name.removeprefix(f"{folder}/")
                    yield read_command(inner, file.data, name, is_own=False)
                else:
                    untrusted.append(name)
            except ProjectFileError as error:
                yield safe_line(f"{name}: {error}; not used")
            except CommandFileError as error:
                yield safe_line(str(error))
    if untrusted:
        more = f" and {len(untrusted) - 1} more commands" if len(untrusted) > 1 else ""
        found = safe_line(f"found {untrusted[0]}{more}")
        yield f"{found}, not used: this folder is not trusted; 'coder-tui trust' shows them, and asks"
