"""Read the MCP servers that other programs keep in files of the project and of the user.

Each entry becomes one of our own sections.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from coder_tui.config.paths import display_path
from coder_tui.config.project import SERVERS_NAME, ProjectFile, ProjectFileError, read_project_file
from coder_tui.config.sections import McpServerSection

Entry = Mapping[str, Any]
_DOLLAR = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_BRACED = re.compile(r"\{env:(\w+)\}")
_MILLISECONDS = 1000.0
_LONGEST = 3600.0


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server that was found. `place` is the file as shown. `is_own` if it is from the user's own file."""

    name: str
    section: McpServerSection
    place: str
    is_own: bool = True

    @property
    def fingerprint(self) -> str:
        """The hash of everything that decides what runs and what it gets, before variables are filled in."""
        fields = self.section.model_dump(mode="json", exclude={"enabled", "start_timeout_sec", "timeout_sec"})
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class FoundServers:
    """The servers of one file, and a sentence for each problem in it."""

    servers: tuple[FoundServer, ...] = ()
    problems: tuple[str, ...] = ()


Convert = Callable[[Entry], Mapping[str, object]]


def read_servers(table: object, place: str, convert: Convert, *, is_own: bool) -> FoundServers:
    """Read the servers of a table. Invalid entries are reported, and the others are used."""
    if not isinstance(table, Mapping):
        return FoundServers(problems=(f"{place}: the servers must be a table; none is used",))
    servers: list[FoundServer] = []
    problems: list[str] = []
    for name, entry in table.items():
        try:
            section = McpServerSection.model_validate(_converted(entry, convert))
        except ValidationError as error:
            problems.append(f"{place}: the server {name} is not used: {'; '.join(_describe(error))}")
            continue
        except (ValueError, TypeError) as error:
            problems.append(f"{place}: the server {name} is not used: {error}")
            continue
        if not section.is_whole:
            problems.append(f"{place}: the server {name} is not used: it needs a command or a url")
            continue
        servers.append(FoundServer(str(name), section, place, is_own))
    return FoundServers(tuple(servers), tuple(problems))


def _converted(entry: object, convert: Convert) -> Mapping[str, object]:
    if not isinstance(entry, Mapping):
        raise ValueError("it must be a table")
    return {key: value for key, value in convert(entry).items() if value is not None}


def _describe(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(part) for part in problem["loc"])
        text = problem["msg"].removeprefix("Value error, ")
        yield f"{where}: {text}" if where else text


def claude_entry(entry: Entry) -> Mapping[str, object]:
    """Convert an entry of `.mcp.json` or `~/.claude.json`."""
    kind = entry.get("type")
    if kind not in (None, "stdio", "http", "sse", "streamable-http", "streamableHttp"):
        raise ValueError(f"the type {kind} is not supported; use stdio, http or sse")
    is_remote = entry.get("url") is not None
    transport = "" if kind is None else "http" if str(kind).startswith("streamable") else kind
    return {
        "command": entry.get("command"),
        "args": entry.get("args"),
        "env": _texts(entry.get("env")),
        "cwd": entry.get("cwd"),
        "url": entry.get("url"),
        "transport": transport if is_remote else None,
        "headers": _texts(entry.get("headers")),
        "timeout_sec": _seconds(entry.get("timeout")),
        "enabled": False if entry.get("disabled") is True else None,
    }


def gemini_entry(entry: Entry) -> Mapping[str, object]:
    """Convert an entry of `.gemini/settings.json`, where `url` means SSE.

    Its `trust` permits nothing here.
    """
    address = entry.get("httpUrl")
    transport = "http" if address else "sse" if entry.get("url") else None
    return {
        "command": _filled(entry.get("command")),
        "args": _filled(entry.get("args")),
        "env": _filled(_texts(entry.get("env"))),
        "cwd": _filled(entry.get("cwd")),
        "url": _filled(address or entry.get("url")),
        "transport": transport,
        "headers": _filled(_texts(entry.get("headers"))),
        "timeout_sec": _seconds(entry.get("timeout")),
        "include_tools": entry.get("includeTools"),
        "exclude_tools": entry.get("excludeTools"),
    }


def opencode_entry(entry: Entry) -> Mapping[str, object]:
    """Convert an entry of `opencode.json`: `local` with a command as a list, or `remote`."""
    kind = entry.get("type", "remote" if "url" in entry else "local")
    if kind not in ("local", "remote"):
        raise ValueError(f"the type {kind} is not supported; use local or remote")
    return {
        "command": _braced(entry.get("command")),
        "env": _braced(_texts(entry.get("environment"))),
        "cwd": _braced(entry.get("cwd")),
        "url": _braced(entry.get("url")),
        "headers": _braced(_texts(entry.get("headers"))),
        "start_timeout_sec": _seconds(entry.get("timeout")),
        "enabled": False if entry.get("enabled") is False else None,
    }


def _texts(table: object) -> object:
    """Turn numbers and booleans into text, because people often omit the quotes."""
    if not isinstance(table, Mapping):
        return table
    plain = (str, int, float)
    return {
        key: json.dumps(value)
        if isinstance(value, bool)
        else str(value)
        if isinstance(value, plain)
        else value
        for key, value in table.items()
    }


def _seconds(milliseconds: object) -> float | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or milliseconds <= 0:
        return None
    return min(milliseconds / _MILLISECONDS, _LONGEST)


def _filled(value: object) -> object:
    """Write `$NAME` as `${NAME}`."""
    return _mapped(value, lambda text: _DOLLAR.sub(lambda found: f"${{{found[1] or found[2]}}}", text))


def _braced(value: object) -> object:
    """Write `{env:NAME}` as `${NAME}`."""
    return _mapped(value, lambda text: _BRACED.sub(r"${\1}", text))


def _mapped(value: object, change: Callable[[str], str]) -> object:
    match value:
        case str():
            return change(value)
        case list():
            return [_mapped(item, change) for item in value]
        case Mapping():
            return {key: _mapped(item, change) for key, item in value.items()}
        case _:
            return value


_SERVERS = "mcpServers"
GEMINI_NAME = ".gemini/settings.json"
OPENCODE_NAMES = ("opencode.json", "opencode.jsonc")
SHARED_NAMES = (*OPENCODE_NAMES, GEMINI_NAME)
"""Files with other settings as well. Trust is only about their servers."""
_FORMATS: dict[str, tuple[str, Convert]] = {
    **dict.fromkeys(OPENCODE_NAMES, ("mcp", opencode_entry)),
    GEMINI_NAME: (_SERVERS, gemini_entry),
    SERVERS_NAME: (_SERVERS, claude_entry),
}
PROJECT_NAMES = (*SHARED_NAMES, SERVERS_NAME)
"""Weakest first: for the same name, the later file wins."""
_CLAUDE = ".claude.json"
_LARGEST = 50_000_000
# Strings are kept and comments removed. An unclosed string or comment reaches to the end: searching again
# from each character inside it, an untrusted small file would take hours.
_TEXT = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_COMMENT = re.compile(_TEXT + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(_TEXT + r"|,(?=\s*[}\]])", re.DOTALL)


def server_file(workspace: Path, name: str) -> ProjectFile | None:
    """Return the part of a file that needs trust: of a shared file only its servers. None without servers."""
    file = read_project_file(workspace, name)
    return None if file is None else _trusted_part(file)


def server_table(file: ProjectFile) -> dict[str, object]:
    """Return the servers in the result of `server_file`, unchanged."""
    values, _ = _values(file)
    # An `.mcp.json` may omit the key around its servers.
    table = values.get(_SERVERS, values)
    return table if isinstance(table, dict) else {}


def project_servers(workspace: Path, trusts: Callable[[ProjectFile], bool]) -> Iterator[FoundServers]:
    """Yield the servers of each file in order. For a file that is not trusted, only report it. Blocks."""
    for name in PROJECT_NAMES:
        try:
            file = read_project_file(workspace, name)
            part = None if file is None else _trusted_part(file)
            if file is None or part is None:
                continue
            if trusts(part):
                yield _read(file)
            else:
                problem = f"found MCP servers in {name}, not started: not trusted; 'coder-tui trust' decides"
                yield FoundServers(problems=(problem,))
        except ProjectFileError as error:
            yield FoundServers(problems=(f"{name} {error}; its servers are not used",))


def _trusted_part(file: ProjectFile) -> ProjectFile | None:
    if file.name not in SHARED_NAMES:
        return file
    key, _ = _FORMATS[file.name]
    servers = _values(file)[0].get(key)
    if not servers:
        return None
    return ProjectFile(file.name, json.dumps({_SERVERS: servers}, sort_keys=True, indent=1).encode())


def claude_servers(home: Path, workspace: Path) -> FoundServers:
    """Read the user's servers of Claude Code, for every folder and for this one. Blocks."""
    path = home / _CLAUDE
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return FoundServers()
        values = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return FoundServers(problems=(f"{display_path(path)} cannot be read: {error}",))
    if not isinstance(values, dict):
        return FoundServers()
    projects = values.get("projects")
    here = projects.get(str(workspace)) if isinstance(projects, dict) else None
    tables = (values.get(_SERVERS), here.get(_SERVERS) if isinstance(here, dict) else None)
    merged = {name: entry for table in tables if isinstance(table, dict) for name, entry in table.items()}
    return read_servers(merged, display_path(path), claude_entry, is_own=True)


def _read(file: ProjectFile) -> FoundServers:
    key, convert = _FORMATS[file.name]
    values, twice = _values(file)
    table = server_table(file) if file.name == SERVERS_NAME else values.get(key, {})
    if file.name == GEMINI_NAME and isinstance(table, dict):
        table = _enabled_by_gemini(table, values.get("mcp"))
    found = read_servers(table, file.name, convert, is_own=False)
    notes = tuple(f"{file.name}: {name} is defined twice; the last one is used" for name in twice)
    return replace(found, problems=(*found.problems, *notes))


def _enabled_by_gemini(table: dict[str, object], switches: object) -> dict[str, object]:
    """Drop the servers that the same file disables by name."""
    lists = switches if isinstance(switches, dict) else {}
    allowed, excluded = lists.get("allowed"), lists.get("excluded")
    return {
        name: entry
        for name, entry in table.items()
        if (not isinstance(allowed, list) or name in allowed)
        and not (isinstance(excluded, list) and name in excluded)
    }


def _values(file: ProjectFile) -> tuple[dict[str, object], tuple[str, ...]]:
    """Parse the file. Returns its values and the keys that are defined twice. Comments are allowed."""
    twice: list[str] = []

    def pairs(given: list[tuple[str, object]]) -> dict[str, object]:
        times = Counter(name for name, _ in given)
        twice.extend(name for name, count in times.items() if count > 1)
        return dict(given)

    text = file.data.decode("utf-8", "replace").removeprefix("\ufeff")
    text = _LAST_COMMA.sub(_without, _COMMENT.sub(_without, text))
    try:
        values = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        raise ProjectFileError(f"is not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise ProjectFileError("must be a JSON object")
    return values, tuple(twice)


def _without(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else ""
