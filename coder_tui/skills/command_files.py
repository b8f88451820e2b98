"""Custom commands in files: Markdown as in Claude and opencode, TOML as in Gemini.

The user's own are always used, a project's only in the content that is trusted.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import (
    COMMAND_FOLDERS,
    LARGEST,
    ProjectFileError,
    extension_names,
    read_project_file,
)
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.trust import Trust
from coder_tui.protocol.errors import ConfigError
from coder_tui.skills.skill import Head, HeadError, split_head
from coder_tui.text.safe_text import safe_line

MARKDOWN, TOML = ".md", ".toml"
MOST_CHARACTERS = 100_000
MOST_DESCRIPTION = 200
_NAME = re.compile(r"[a-z][\w-]*(?::[\w-]+)*")
# People write `[number] [priority]`, although YAML requires quotes.
_HINT = re.compile(r"^(argument-hint:[ \t]*)(\[.*\S)[ \t]*$", re.MULTILINE)
_TRUE = ("true", "yes", "on")


class Dialect(StrEnum):
    """How a body writes its placeholders: `$1` and !`…`, or `{{args}}` and `!{…}`."""

    MARKDOWN = "markdown"
    TOML = "toml"


class CommandFileError(Exception):
    """A file has no usable command; the message names the file and says why."""


@dataclass(frozen=True, slots=True)
class CommandFile:
    """`label` is the file's display name. An empty `allowed_tools` changes nothing."""

    name: str
    body: str
    dialect: Dialect
    label: str
    description: str = ""
    argument_hint: str = ""
    allowed_tools: tuple[str, ...] = ()
    model: str = ""
    agent: str = ""
    is_subtask: bool = False
    is_own: bool = True
    """False if it is a project's."""


def is_command_file(name: str) -> bool:
    return name.endswith((MARKDOWN, TOML))


def read_command(inner: str, data: bytes, label: str, *, is_own: bool) -> CommandFile:
    """Read a command; `inner` is the path below the commands folder, where subfolders become `a:b`."""
    stem, _, ending = inner.rpartition(".")
    name = stem.replace("/", ":").lower()
    if not _NAME.fullmatch(name):
        raise CommandFileError(f"{label}: {name!r} is not a valid command name; not used")
    is_toml = f".{ending}" == TOML
    fields, body = _toml(data, label) if is_toml else _markdown(data, label)
    if not body.strip():
        raise CommandFileError(f"{label}: the command has no prompt; not used")
    if len(body) > MOST_CHARACTERS:
        raise CommandFileError(f"{label}: its prompt is longer than {MOST_CHARACTERS} characters; not used")
    return CommandFile(
        name,
        body.strip(),
        Dialect.TOML if is_toml else Dialect.MARKDOWN,
        label,
        (_text(fields, "description") or first_line(body))[:MOST_DESCRIPTION],
        _text(fields, "argument-hint", "argument_hint")[:MOST_DESCRIPTION],
        _names(fields, "allowed-tools", "allowed_tools"),
        _text(fields, "model"),
        _text(fields, "agent"),
        _text(fields, "subtask").casefold() in _TRUE,
        is_own,
    )


def _markdown(data: bytes, label: str) -> tuple[Mapping[str, object], str]:
    try:
        text = _HINT.sub(
            lambda hint: hint[1] + json.dumps(hint[2], ensure_ascii=False), data.decode("utf-8-sig")
        )
        # Most have no frontmatter: then everything is the prompt.
        head = split_head(text) if text.lstrip().startswith("---") else Head(body=text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CommandFileError(f"{label}:{line}: not UTF-8 text; not used") from error
    except HeadError as error:
        raise CommandFileError(f"{label}:{error.line}: {error}; not used") from error
    return head.fields, head.body


def _toml(data: bytes, label: str) -> tuple[Mapping[str, object], str]:
    try:
        values = parse_settings(Path(label), data).values
    except ConfigError as error:
        raise CommandFileError(f"{error}; not used") from error
    prompt = values.get("prompt")
    return values, prompt if isinstance(prompt, str) else ""


def _text(fields: Mapping[str, object], *names: str) -> str:
    for name in names:
        match fields.get(name):
            case str() as value:
                return " ".join(value.split())
            case bool() as value:
                return str(value)
            case _:
                continue
    return ""


def _names(fields: Mapping[str, object], *names: str) -> tuple[str, ...]:
    for name in names:
        match fields.get(name):
            case str() as value if value.strip():
                return (value,)
            case tuple() | list() as values:
                return tuple(map(str, values))
            case _:
                continue
    return ()


def first_line(text: str) -> str:
    return next((line.strip("# \t") for line in text.splitlines() if line.strip()), "")


USER, PROJECT = "user", "project"
"""Prefixes for a name that is already used: `project:review`."""
_MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class FoundCommands:
    """`problems` say which files are not used, and why."""

    commands: tuple[CommandFile, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtensionPlaces:
    """Where people keep commands and agents; `home` is the user's home folder."""

    workspace: Path
    directories: Directories
    home: Path
    environ: Mapping[str, str]

    @property
    def opencode(self) -> Path:
        config = Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config")
        return Path(self.environ.get("OPENCODE_CONFIG_DIR") or config / "opencode")

    def commands(self) -> Iterator[Path]:
        """Yield the user's folders, weakest first: of two with the same name, the later is used."""
        yield self.home / ".claude/commands"
        yield self.home / ".gemini/commands"
        yield self.opencode / "command"
        yield self.opencode / "commands"
        yield self.directories.config / "commands"


class CommandFiles:
    """`taken` returns the names that no file may use: built-in commands and skills."""

    def __init__(self, places: ExtensionPlaces | None, taken: Callable[[], frozenset[str]]) -> None:
        self.found = FoundCommands()
        self._places = places
        self._taken = taken

    def refresh(self) -> None:
        """Search again. Blocks: reads files, runs nothing."""
        if self._places is None:
            return
        found = find_commands(self._places, Trust.load(self._places.directories), self._taken())
        if found != self.found:
            self.found = found

    def find(self, name: str) -> CommandFile | None:
        wanted = name.lower()
        return next((command for command in self.found.commands if command.name == wanted), None)


def find_commands(places: ExtensionPlaces, trust: Trust, taken: frozenset[str]) -> FoundCommands:
    """Find all commands; a later folder wins, and a name that is already used gets a prefix. Blocks."""
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


def _own(places: ExtensionPlaces) -> Iterator[CommandFile | str]:
    for folder in places.commands():
        for path in extension_files(folder):
            label = display_path(path)
            try:
                with path.open("rb") as file:
                    data = file.read(LARGEST)
                yield read_command(path.relative_to(folder).as_posix(), data, label, is_own=True)
            except OSError as error:
                yield f"{label}: cannot be read: {error.strerror or error}"
            except CommandFileError as error:
                yield safe_line(str(error))


def extension_files(folder: Path) -> list[Path]:
    """Return the Markdown and TOML files below a folder, in a stable order. Blocks."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(place, name) for name in sorted(names) if name.endswith((MARKDOWN, TOML))]
        if len(found) > _MOST_FILES:
            break
    return found[:_MOST_FILES]


def _of_project(workspace: Path, trust: Trust) -> Iterator[CommandFile | str]:
    untrusted: list[str] = []
    for folder in COMMAND_FOLDERS:
        try:
            names = extension_names(workspace, (folder,))
        except ProjectFileError:
            continue  # reported where trust is asked for
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
        yield f"{found}, not used: this folder is not trusted; run 'coder-tui trust' to review them"
