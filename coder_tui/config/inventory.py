"""List what a project contains, item by item, for the user who decides whether to trust it.

Each item has a sentence about what it would do. Nothing is checked or used. Of a project's
`.claude/settings.json` only the hooks are used, and trust is about those. The last part lists what makes
other programs run code; none of it is used here.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from coder_tui.config.project import ProjectFile, ProjectFileError, is_never_used, read_project_file
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
    """One thing in a project. `needs_trust` if trust would enable it; otherwise it is for information."""

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
    """A file that needs trust, with its content when it was checked."""

    name: str
    sha256: str
    is_trusted: bool
    is_own: bool = False
    """Whether the user had this program write it, which trusts nothing else of the project."""


@dataclass(frozen=True, slots=True)
class ProjectInventory:
    """What a project contains. `workspace` is resolved. Trust is bound to the present content of `files`."""

    workspace: str
    files: tuple[FileState, ...] = ()
    items: tuple[ProjectItem, ...] = ()

    @property
    def is_trusted(self) -> bool:
        """Whether every file is trusted. True if there is nothing to trust."""
        return all(file.is_trusted for file in self.files)

    @property
    def is_accepted(self) -> bool:
        """Whether the user trusts what the project contains."""
        return self.is_trusted and any(not file.is_own for file in self.files)

    @property
    def questions(self) -> tuple[ProjectItem, ...]:
        """The items that trust would enable."""
        return tuple(item for item in self.items if item.needs_trust)


_LONGEST = 1_000
_LAST = 300
# Not parsed here, which other modules do: a model that is written differently is not found.
_MODEL = re.compile(rb"""^[ \t]*["']?model["']?[ \t]*[:=][ \t]*(\S[^\n]*)""", re.MULTILINE)
_INSERT = re.compile(rb"!`([^`\n]+)`|!\{([^\n]+)")
# In each way that programs write them.
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)|\{env:(\w+)")
_MOST_VARIABLES = 10
_TIGHTENING = ("ask", "deny")

# Each sentence is followed by the value as JSON.
_SINGLE: Mapping[KeyPath, tuple[ItemKind, str]] = {
    ("model", "name"): (ItemKind.MODEL, "uses the model"),
    ("model", "small"): (ItemKind.MODEL, "uses this model for small tasks:"),
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
# One item per entry: its name, then its value.
_NAMED: Mapping[str, tuple[ItemKind, str]] = {
    "hooks": (ItemKind.HOOK, "runs automatically for"),
    "mcp": (ItemKind.MCP, "starts the server"),
    "lsp": (ItemKind.LSP, "starts the language server for"),
    "env": (ItemKind.ENVIRONMENT, "sets the variable"),
    "environment": (ItemKind.ENVIRONMENT, "sets the variable"),
    "agents": (ItemKind.EXTENSION, "changes the agent"),
}


def setting_items(file: SettingsFile, name: str) -> Iterator[ProjectItem]:
    """Yield the items of a settings file in its own order. `name` is how the file is shown."""
    for section, value in file.values.items():
        for path, kind, sentence in _section(section, value):
            needs_trust = kind not in (ItemKind.STRICTER, ItemKind.NEVER)
            yield ProjectItem(kind, name, file.line(path), sentence, needs_trust)


def server_items(servers: Mapping[str, Any], name: str, line: Callable[[str], int]) -> Iterator[ProjectItem]:
    """Yield the servers of the file `name`. `line` returns the line of a server."""
    for server, value in servers.items():
        sentence = f'starts the server "{server}"{_handed(value)}: {_command(value)}'
        yield ProjectItem(ItemKind.MCP, name, line(server), sentence)


def skill_item(name: str) -> ProjectItem:
    """Describe a file in a folder of skills: the instructions, or a file that comes with them."""
    *_, folder, file = name.split("/")
    if file == "SKILL.md":
        return ProjectItem(ItemKind.SKILL, name, 0, f'offers the model the instructions "{folder}"')
    return ProjectItem(ItemKind.SKILL, name, 0, "belongs to a skill, which may tell the model to run it")


def agent_item(name: str, data: bytes = b"") -> ProjectItem:
    """Describe a file in a folder of agents. `data` is searched for the model that it would use."""
    agent = name.rpartition("/")[2].rpartition(".")[0]
    models = _models(data)
    named = f"uses the model {_shown(models[0])}" if models else "may choose its own model"
    return ProjectItem(
        ItemKind.AGENT, name, 0, f'offers the agent "{agent}", with its own prompt and tools; it {named}'
    )


def command_item(name: str, data: bytes) -> ProjectItem:
    """Describe a file in a folder of commands. What it would run is shown, and asked about again later."""
    found = (one or other for one, other in _INSERT.findall(data))
    inserts = [each.decode("utf-8", "replace").strip() for each in found]
    runs = f"; it wants to run {_shown(inserts)}, after asking" if inserts else ""
    models = _models(data)
    named = f"; it uses the model {_shown(models[0])}" if models else ""
    return ProjectItem(ItemKind.PROMPT, name, 0, f"offers you a command with its own prompt{runs}{named}")


def _models(data: bytes) -> list[str]:
    return [found.decode("utf-8", "replace").strip(" \t\r\"'") for found in _MODEL.findall(data)]


def tool_item(name: str) -> ProjectItem:
    return ProjectItem(
        ItemKind.TOOL, name, 0, "runs inside this program, unconfined: it can do whatever you can do"
    )


def _section(section: str, value: Any) -> Iterator[tuple[KeyPath, ItemKind, str]]:
    if not isinstance(value, dict):
        yield (section,), ItemKind.SETTING, f"sets {section} to {_shown(value)}"
    elif section == "permission":
        yield from _rules(value)
    elif section in _NAMED:
        kind, words = _NAMED[section]
        for name, entry in value.items():
            if is_never_used((section, name)):
                yield (section, name), *_setting((section, name), entry)
            else:
                handed = _handed(entry) if kind is ItemKind.MCP else ""
                yield (section, name), kind, f'{words} "{name}"{handed}: {_command(entry)}'
    else:
        for key, entry in value.items():
            yield (section, key), *_setting((section, key), entry)


def _setting(path: KeyPath, value: Any) -> tuple[ItemKind, str]:
    dotted = ".".join(map(str, path))
    if is_never_used(path):
        return ItemKind.NEVER, f"sets {dotted}, which a project can never set"
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
                yield path, ItemKind.STRICTER, f"{said}: {effect}; already applies"
            else:
                yield path, ItemKind.RULE, f"runs without asking: {said}"


def _command(value: Any) -> str:
    """Return the command line or address of an entry if it has one, else the entry as JSON."""
    if isinstance(value, dict):
        command = value.get("command", value.get("url"))
        if isinstance(command, str):
            given = value.get("args", [])
            words = [command, *(map(str, given) if isinstance(given, list) else (_shown(given),))]
            rest = {key: item for key, item in value.items() if key not in ("command", "url", "args")}
            return _cut(" ".join(words) + (f", with {json.dumps(rest, default=str)}" if rest else ""))
    return _shown(value)


def _handed(value: Any) -> str:
    """Name the user's variables that it gets. They come first, so that nothing can push them out of sight."""
    found = _VARIABLE.findall(json.dumps(value, default=str))
    names = dict.fromkeys(name for names in found for name in names if name)
    listed = ", ".join(list(names)[:_MOST_VARIABLES])
    more = f" and {len(names) - _MOST_VARIABLES} more" if len(names) > _MOST_VARIABLES else ""
    return f", which gets your {listed}{more}" if names else ""


def _shown(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    """Shorten a text in the middle, so that padding cannot push its end out of sight."""
    if len(text) <= _LONGEST:
        return text
    first, last = text[: _LONGEST - _LAST], text[-_LAST:]
    return f"{first} … ({len(text) - _LONGEST} more characters) … {last}"


CLAUDE_SETTINGS = ".claude/settings.json"
_HOOKS = "hooks"


def hooks_file(workspace: Path, name: str = CLAUDE_SETTINGS) -> ProjectFile | None:
    """Return the file reduced to its hooks, so that other changes in it need no new trust.

    None without hooks.
    """
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
        yield ProjectItem(ItemKind.HOOK, file.name, 0, f'runs automatically for "{event}": {cut}')


# Programs that we start: one of the same name in the folder may be a trap.
_PROGRAMS = ("git", "rg", "bwrap", "sh", "bash", "pylsp", "bash-language-server", "node", "python", "python3")
_GIT_FILES = (".git/config", ".git/config.worktree")
_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)')
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$")
_RUNS = {
    "core": {"fsmonitor", "hookspath", "sshcommand", "pager", "editor", "askpass", "gitproxy", "worktree"},
    "diff": {"external", "textconv", "command"},
    "filter": {"clean", "smudge", "process"},
    "merge": {"driver"},
    "gpg": {"program", "defaultkeycommand"},
    "credential": {"helper"},
    "include": {"path"},
    "includeif": {"path"},
    "hook": {"command"},
    "sequence": {"editor"},
}
_LONGEST_VALUE = 120


def other_program_items(workspace: Path) -> Iterator[ProjectItem]:
    """Yield items that are only for information: they do not change what this program does."""
    for name in _GIT_FILES:
        if text := _text(workspace, name):
            yield from _git_settings(name, text)
    yield from _git_hooks(workspace)
    if (workspace / ".envrc").is_file():
        yield _known(ItemKind.ENVIRONMENT, ".envrc", "is not read: only your own environment is used")
    yield from _package_scripts(workspace)
    for name in _PROGRAMS:
        if os.access(workspace / name, os.X_OK) and (workspace / name).is_file():
            yield _known(ItemKind.SCRIPT, name, f"is a program named {name}; the system's is used")


def _known(kind: ItemKind, file: str, sentence: str, line: int = 0) -> ProjectItem:
    return ProjectItem(kind, file, line, sentence, needs_trust=False)


def _text(workspace: Path, name: str) -> str:
    try:
        file = read_project_file(workspace, name)
    except ProjectFileError:  # a link that leads out, or a pipe: we would not read it
        return ""
    return file.data.decode("utf-8", "replace") if file else ""


def _git_settings(name: str, text: str) -> Iterator[ProjectItem]:
    """Yield settings that run programs. git ignores all of them, found here or not."""
    section, subsection = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        rest = line.strip()
        if header := _SECTION.match(rest):
            section, subsection, rest = header[1].lower(), header[2] or "", header[3]
        if not (pair := _PAIR.match(rest)) or pair[1].lower() not in _RUNS.get(section, ()):
            continue
        key = ".".join(part for part in (section, subsection, pair[1]) if part)
        value = (pair[2] or "").strip()[:_LONGEST_VALUE]
        yield _known(ItemKind.GIT, name, f"sets {key} to {value}; git tools that read ignore it", number)


def _git_hooks(workspace: Path) -> Iterator[ProjectItem]:
    folder = workspace / ".git" / "hooks"
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return
    for name in names:
        if not name.endswith(".sample") and os.access(folder / name, os.X_OK):
            yield _known(ItemKind.GIT, f".git/hooks/{name}", "is a git hook; approvals of commits name it")


def _package_scripts(workspace: Path) -> Iterator[ProjectItem]:
    try:
        package = json.loads(_text(workspace, "package.json") or "{}")
    except (ValueError, RecursionError):
        return
    scripts = package.get("scripts") if isinstance(package, dict) else None
    if isinstance(scripts, dict) and scripts:
        names = ", ".join(map(str, scripts))[:_LONGEST_VALUE]
        yield _known(ItemKind.SCRIPT, "package.json", f"has scripts ({names}); none runs automatically")
