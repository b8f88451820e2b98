"""Reads servers as other programs write them down: each entry becomes one of our own sections."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from coder_tui.config.mcp_section import McpServerSection

Entry = Mapping[str, Any]
_DOLLAR = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_BRACED = re.compile(r"\{env:(\w+)\}")
_MILLISECONDS = 1000.0
_LONGEST = 3600.0


@dataclass(frozen=True, slots=True)
class FoundServer:
    """`place` names the file, for people; a server `is_own` where the person's own file has it."""

    name: str
    section: McpServerSection
    place: str
    is_own: bool = True

    @property
    def fingerprint(self) -> str:
        """Of all that decides what runs and what it is given, before variables are filled in."""
        told = self.section.model_dump(mode="json", exclude={"enabled", "start_timeout_sec", "timeout_sec"})
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class FoundServers:
    """What one place holds, and a sentence for each thing that is wrong there."""

    servers: tuple[FoundServer, ...] = ()
    problems: tuple[str, ...] = ()


Convert = Callable[[Entry], Mapping[str, object]]


def read_servers(table: object, place: str, convert: Convert, *, is_own: bool) -> FoundServers:
    """Entries that make no sense are told of, and the rest goes on."""
    if not isinstance(table, Mapping):
        return FoundServers(problems=(f"{place}: its servers are no table; none is used",))
    servers: list[FoundServer] = []
    problems: list[str] = []
    for name, entry in table.items():
        try:
            section = McpServerSection.model_validate(_converted(entry, convert))
        except ValidationError as error:
            problems.append(f"{place}: the server {name} is not used: {'; '.join(_words(error))}")
            continue
        except (ValueError, TypeError) as error:
            problems.append(f"{place}: the server {name} is not used: {error}")
            continue
        if not section.is_whole:
            problems.append(f"{place}: the server {name} is not used: it has neither command nor url")
            continue
        servers.append(FoundServer(str(name), section, place, is_own))
    return FoundServers(tuple(servers), tuple(problems))


def _converted(entry: object, convert: Convert) -> Mapping[str, object]:
    if not isinstance(entry, Mapping):
        raise ValueError("it is no table")
    return {key: value for key, value in convert(entry).items() if value is not None}


def _words(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(part) for part in problem["loc"])
        said = problem["msg"].removeprefix("Value error, ")
        yield f"{where}: {said}" if where else said


def claude_entry(entry: Entry) -> Mapping[str, object]:
    """Of `.mcp.json` and `~/.claude.json`."""
    kind = entry.get("type")
    if kind not in (None, "stdio", "http", "sse", "streamable-http", "streamableHttp"):
        raise ValueError(f"the type {kind} is not known here; stdio, http and sse are")
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
    """Of `.gemini/settings.json`, where `url` speaks SSE; what it says of trust permits nothing here."""
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
    """Of `opencode.json`: `local` with a command in words, or `remote`."""
    kind = entry.get("type", "remote" if "url" in entry else "local")
    if kind not in ("local", "remote"):
        raise ValueError(f"the type {kind} is not known here; local and remote are")
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
    """Numbers and switches are written without quotes often enough."""
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
    """`$NAME` as `${NAME}`."""
    return _mapped(value, lambda text: _DOLLAR.sub(lambda found: f"${{{found[1] or found[2]}}}", text))


def _braced(value: object) -> object:
    """`{env:NAME}` as `${NAME}`."""
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
