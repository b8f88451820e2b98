"""Writes MCP servers down: into the person's settings, or into the file that a project shares with others."""

import json
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any

import tomlkit

from coder_tui.config.own_files import write_private
from coder_tui.config.paths import display_path
from coder_tui.config.project import SERVERS_NAME, ProjectFileError, read_project_file
from coder_tui.config.write import rewrite_settings
from coder_tui.protocol.errors import ConfigError, UsageError

_SERVERS = "mcpServers"
_MCP = "mcp"
_SHARED = 0o644


def add_to_settings(path: Path, name: str, section: Mapping[str, object]) -> Path:
    """Raises `ConfigError`, or `UsageError` where the name is taken; then nothing is written. Blocks."""

    def change(document: MutableMapping[str, Any]) -> None:
        is_toml = isinstance(document, tomlkit.TOMLDocument)
        if _MCP not in document:
            document[_MCP] = tomlkit.table(is_super_table=True) if is_toml else {}
        if name in document[_MCP]:
            raise _taken(name, path)
        document[_MCP][name] = dict(section)

    return rewrite_settings(path, change)


def add_to_project(workspace: Path, name: str, section: Mapping[str, object]) -> Path:
    """The same for `.mcp.json`, which other programs read as well."""
    values = _project_values(workspace)
    servers = values[_SERVERS]
    if name in servers:
        raise _taken(name, workspace / SERVERS_NAME)
    plain = dict(section)
    transport = plain.pop("transport", "http" if "url" in plain else "")
    servers[name] = {**({"type": transport} if transport else {}), **plain}
    return _write(workspace, values)


def remove_server(path: Path, name: str) -> Path:
    """From either kind of file. Raises `UsageError` where it is not there."""
    if path.name == SERVERS_NAME:
        values = _project_values(path.parent)
        if values[_SERVERS].pop(name, None) is None:
            raise _missing(name, path)
        return _write(path.parent, values)

    def change(document: MutableMapping[str, Any]) -> None:
        if name not in document.get(_MCP, {}):
            raise _missing(name, path)
        del document[_MCP][name]
        if not document[_MCP]:
            # An empty table without a heading of its own is nothing when it is written.
            del document[_MCP]

    return rewrite_settings(path, change)


def _project_values(workspace: Path) -> dict[str, Any]:
    """The whole file, which has a table of servers."""
    path = workspace / SERVERS_NAME
    try:
        file = read_project_file(workspace, SERVERS_NAME)
        values = json.loads(file.data) if file else {_SERVERS: {}}
    except (ProjectFileError, ValueError) as error:
        raise ConfigError(f"{display_path(path)} cannot be changed: {error}") from error
    if not isinstance(values, dict) or not isinstance(values.get(_SERVERS), dict):
        raise ConfigError(f"{display_path(path)} cannot be changed: it has no table {_SERVERS}")
    return values


def _write(workspace: Path, values: dict[str, Any]) -> Path:
    path = workspace / SERVERS_NAME
    try:
        text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
        write_private(path, text.encode(), _SHARED)
    except OSError as error:
        raise ConfigError(f"cannot write {display_path(path)}: {error.strerror or error}") from error
    return path


def _taken(name: str, path: Path) -> UsageError:
    return UsageError(f"{display_path(path)} has a server {name} already; remove it first")


def _missing(name: str, path: Path) -> UsageError:
    return UsageError(f"{display_path(path)} has no server {name}; 'coder-tui mcp list' tells where each is")
