"""What a project brings along, item by item, for a person who decides whether to trust it.

Says in a sentence what each line of a project's settings would do, without checking or using any of it.

The hooks of a project's `.claude/settings.json`: all that is used of it, and that trust is about.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from coder_tui.config.project import ProjectFile, ProjectFileError, is_never_taken, read_project_file
from coder_tui.config.settings_file import KeyPath, SettingsFile


class ItemKind(StrEnum):
    RULE = "allow rule"
    STRICTER = "stricter rule"
    MODEL = "model"
    ADDRESS = "address"
    ENVIRONMENT = "environment"
    COMMAND = "command"
    HOOK = "hook"
    MCP = "mcp server"
    LSP = "language server"
    FOLDER = "folder"
    SANDBOX = "sandbox"
    SETTING = "setting"
    NEVER = "never used"
    UNREADABLE = "unreadable"
    EXTENSION = "extension"
    GIT = "git"
    INSTRUCTIONS = "instructions"
    SCRIPT = "script"
    SKILL = "skill"
    AGENT = "agent"
    TOOL = "tool"
    PROMPT = "slash command"


@dataclass(frozen=True, slots=True)
class ProjectItem:
    """One thing; `needs_trust` tells what trust would switch on from what is only worth knowing."""

    kind: ItemKind
    file: str
    line: int
    sentence: str
    needs_trust: bool = True

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class FileState:
    """A file that trust is about, as it was when it was looked at."""

    name: str
    sha256: str
    is_trusted: bool
    is_own: bool = False
    """The person had it written here: by that nobody said yes to anything else of the project."""


@dataclass(frozen=True, slots=True)
class ProjectInventory:
    """`workspace` is resolved; `files` are those that trust would bind to their present content."""

    workspace: str
    files: tuple[FileState, ...] = ()
    items: tuple[ProjectItem, ...] = ()

    @property
    def is_trusted(self) -> bool:
        """Nothing waits for an answer; true where there is nothing to trust."""
        return all(file.is_trusted for file in self.files)

    @property
    def is_vouched_for(self) -> bool:
        """A person said yes to what the project brings."""
        return self.is_trusted and any(not file.is_own for file in self.files)

    @property
    def questions(self) -> tuple[ProjectItem, ...]:
        """What trust would switch on."""
        return tuple(item for item in self.items if item.needs_trust)


_LONGEST = 1_000
_LAST = 300
# Without parsing, for that is the work of others: a model that is written otherwise is not seen here.
_MODEL = re.compile(rb"""^[ \t]*["']?model["']?[ \t]*[:=][ \t]*(\S[^\n]*)""", re.MULTILINE)
_INSERT = re.compile(rb"!`([^`\n]+)`|!\{([^\n]+)")
# In each of the ways in which programs write them.
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)|\{env:(\w+)")
_MOST_VARIABLES = 10
_TIGHTENING = ("ask", "deny")

# The sentences end where the value, written as JSON, follows.
_SINGLE: Mapping[KeyPath, tuple[ItemKind, str]] = {
    ("model", "name"): (ItemKind.MODEL, "talks to the model"),
    ("model", "small"): (ItemKind.MODEL, "uses for small tasks the model"),
    ("model", "api_base"): (ItemKind.ADDRESS, "sends every message, and the key, to"),
    ("bash", "shell"): (ItemKind.COMMAND, "runs every command through"),
    ("bash", "sandbox"): (ItemKind.SANDBOX, "sets the sandbox to"),
    ("bash", "network"): (ItemKind.SANDBOX, "gives the network to"),
    ("workspace", "extra_roots"): (ItemKind.FOLDER, "adds to the workspace"),
    ("tools", "discovery_command"): (ItemKind.COMMAND, "finds tools by running"),
    ("tools", "call_command"): (ItemKind.COMMAND, "calls tools by running"),
    ("verify", "command"): (ItemKind.COMMAND, "checks changes by running"),
    ("websearch", "base_url"): (ItemKind.ADDRESS, "sends searches, and their key, to"),
}
# One item an entry: the entry's name, then its value.
_NAMED: Mapping[str, tuple[ItemKind, str]] = {
    "hooks": (ItemKind.HOOK, "runs on its own for"),
    "mcp": (ItemKind.MCP, "starts the server"),
    "lsp": (ItemKind.LSP, "starts the language server for"),
    "env": (ItemKind.ENVIRONMENT, "sets the variable"),
    "environment": (ItemKind.ENVIRONMENT, "sets the variable"),
    "agents": (ItemKind.EXTENSION, "changes the agent"),
}


def setting_items(file: SettingsFile, name: str) -> Iterator[ProjectItem]:
    """In the order of the file's own tables; `name` is how the file is shown."""
    for section, value in file.values.items():
        for path, kind, sentence in _section(section, value):
            needs_trust = kind not in (ItemKind.STRICTER, ItemKind.NEVER)
            yield ProjectItem(kind, name, file.line(path), sentence, needs_trust)


def server_items(servers: Mapping[str, Any], name: str, line: Callable[[str], int]) -> Iterator[ProjectItem]:
    """The servers of a file that is called so; `line` tells where one of them stands."""
    for server, value in servers.items():
        sentence = f'starts the server "{server}"{_handed(value)}: {_command(value)}'
        yield ProjectItem(ItemKind.MCP, name, line(server), sentence)


def skill_item(name: str) -> ProjectItem:
    """A file below a folder of skills: the instructions, or what they bring along."""
    *_, folder, file = name.split("/")
    if file == "SKILL.md":
        return ProjectItem(ItemKind.SKILL, name, 0, f'offers the model the instructions "{folder}"')
    return ProjectItem(ItemKind.SKILL, name, 0, "comes with instructions, which may tell the model to run it")


def agent_item(name: str, data: bytes = b"") -> ProjectItem:
    """A file below a folder of agents; `data` is looked through for the model that it would talk to."""
    agent = name.rpartition("/")[2].rpartition(".")[0]
    models = _models(data)
    named = f"talks to the model {_shown(models[0])}" if models else "may name a model of its own"
    return ProjectItem(
        ItemKind.AGENT, name, 0, f'offers the agent "{agent}", with its own prompt and tools; it {named}'
    )


def command_item(name: str, data: bytes) -> ProjectItem:
    """A file below a folder of commands; what it would run is shown, though that is asked about again."""
    found = (one or other for one, other in _INSERT.findall(data))
    inserts = [each.decode("utf-8", "replace").strip() for each in found]
    runs = f"; it wants to run {_shown(inserts)}, which is asked" if inserts else ""
    models = _models(data)
    named = f"; it talks to the model {_shown(models[0])}" if models else ""
    return ProjectItem(ItemKind.PROMPT, name, 0, f"offers you a command with its own prompt{runs}{named}")


def _models(data: bytes) -> list[str]:
    return [found.decode("utf-8", "replace").strip(" \t\r\"'") for found in _MODEL.findall(data)]


def tool_item(name: str) -> ProjectItem:
    return ProjectItem(
        ItemKind.TOOL, name, 0, "runs inside of this program, unconfined: it can do whatever you can do"
    )


def _section(section: str, value: Any) -> Iterator[tuple[KeyPath, ItemKind, str]]:
    if not isinstance(value, dict):
        yield (section,), ItemKind.SETTING, f"sets {section} to {_shown(value)}"
    elif section == "permission":
        yield from _rules(value)
    elif section in _NAMED:
        kind, words = _NAMED[section]
        for name, entry in value.items():
            if is_never_taken((section, name)):
                yield (section, name), *_setting((section, name), entry)
            else:
                handed = _handed(entry) if kind is ItemKind.MCP else ""
                yield (section, name), kind, f'{words} "{name}"{handed}: {_command(entry)}'
    else:
        for key, entry in value.items():
            yield (section, key), *_setting((section, key), entry)


def _setting(path: KeyPath, value: Any) -> tuple[ItemKind, str]:
    dotted = ".".join(map(str, path))
    if is_never_taken(path):
        return ItemKind.NEVER, f"sets {dotted}, which is never taken from a project"
    if path in _SINGLE:
        kind, words = _SINGLE[path]
        return kind, f"{words} {_shown(value)}"
    return ItemKind.SETTING, f"sets {dotted} to {_shown(value)}"


def _rules(table: Mapping[str, Any]) -> Iterator[tuple[KeyPath, ItemKind, str]]:
    for key, value in table.items():
        patterns = value if isinstance(value, dict) else {"": value}
        for pattern, effect in patterns.items():
            path = ("permission", key, pattern) if pattern else ("permission", key)
            said = f"{key} {_shown(pattern)}" if pattern else key
            if effect in _TIGHTENING:
                yield path, ItemKind.STRICTER, f"{said}: {effect}; holds already"
            else:
                yield path, ItemKind.RULE, f"runs without asking: {said}"


def _command(value: Any) -> str:
    """An entry as the command line or address that it comes down to, where it has one."""
    if isinstance(value, dict):
        command = value.get("command", value.get("url"))
        if isinstance(command, str):
            given = value.get("args", [])
            words = [command, *(map(str, given) if isinstance(given, list) else (_shown(given),))]
            rest = {key: item for key, item in value.items() if key not in ("command", "url", "args")}
            return _cut(" ".join(words) + (f", with {json.dumps(rest, default=str)}" if rest else ""))
    return _shown(value)


def _handed(value: Any) -> str:
    """Which variables of the person's it is given: said first, where nothing can push it out of sight."""
    found = _VARIABLE.findall(json.dumps(value, default=str))
    names = dict.fromkeys(name for names in found for name in names if name)
    listed = ", ".join(list(names)[:_MOST_VARIABLES])
    more = f" and {len(names) - _MOST_VARIABLES} more" if len(names) > _MOST_VARIABLES else ""
    return f", which is handed your {listed}{more}" if names else ""


def _shown(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    """What stands last is shown as well: padding must not push it out of sight."""
    if len(text) <= _LONGEST:
        return text
    first, last = text[: _LONGEST - _LAST], text[-_LAST:]
    return f"{first} … ({len(text) - _LONGEST} more characters) … {last}"


CLAUDE_SETTINGS = ".claude/settings.json"
_HOOKS = "hooks"


def hooks_file(workspace: Path, name: str = CLAUDE_SETTINGS) -> ProjectFile | None:
    """The file reduced to its hooks, so that a change elsewhere in it asks nobody; None without any."""
    file = read_project_file(workspace, name)
    if file is None or b'"hooks"' not in file.data:
        return None
    try:
        values = json.loads(file.data)
    except (ValueError, RecursionError) as error:
        raise ProjectFileError(f"is not valid JSON ({str(error)[:100]})") from error
    hooks = values.get(_HOOKS) if isinstance(values, dict) else None
    return ProjectFile(name, json.dumps(hooks, indent=1).encode()) if hooks else None


def hook_items(file: ProjectFile) -> Iterator[ProjectItem]:
    hooks = json.loads(file.data)
    for event, entry in (hooks if isinstance(hooks, dict) else {"": hooks}).items():
        shown = json.dumps(entry, ensure_ascii=False)
        cut = f"{shown[:_LONGEST]} … {shown[-200:]}" if len(shown) > _LONGEST else shown
        yield ProjectItem(ItemKind.HOOK, file.name, 0, f'runs on its own for "{event}": {cut}')
