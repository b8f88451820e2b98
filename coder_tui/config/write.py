"""Change a settings file without losing its other content: set values, add rules from saved approvals.

Also adds and removes MCP servers, there or in the file that a project shares.
"""

import json
import os
import stat
import tomllib
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from coder_tui.config.own_files import OWNER_ONLY, write_private
from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import (
    CONFIG_NAMES,
    SERVERS_NAME,
    ProjectFile,
    ProjectFileError,
    read_project_file,
)
from coder_tui.config.project_settings import PERMISSION
from coder_tui.config.settings import load_settings
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.policy.rules import EVERYTHING, Effect
from coder_tui.protocol.errors import ConfigError, UsageError, UserError
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope

Change = Callable[[MutableMapping[str, Any]], None]
"""Applied once to plain values, and once to a TOML document, which has its own tables."""
_NAMES = ("config.toml", "config.json")


def settings_file_in(folder: Path) -> Path:
    """Return the existing settings file, or the one to create."""
    found = [folder / name for name in _NAMES if (folder / name).exists()]
    if len(found) > 1:
        raise ConfigError(
            f"{display_path(found[0])} and {display_path(found[1])} both exist; keep one of them"
        )
    return found[0] if found else folder / _NAMES[0]


def save_setting(path: Path, section: str, key: str, value: str) -> Path:
    """Set one value in the user's file. If it raises `ConfigError`, nothing was written. Blocks."""

    def change(document: MutableMapping[str, Any]) -> None:
        if section not in document:
            document[section] = tomlkit.table() if isinstance(document, tomlkit.TOMLDocument) else {}
        document[section][key] = value

    return rewrite_settings(path, change)


def rewrite_settings(path: Path, change: Change, mode: int = OWNER_ONLY) -> Path:
    """Change a settings file.

    A new file gets `mode`. If it raises `ConfigError`, nothing was written. Blocks.
    """
    real = Path(os.path.realpath(path))  # a link stays a link
    try:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = real.read_bytes() if real.exists() else None
        after = _changed(path, before or b"", change)
        if before is not None:
            mode = stat.S_IMODE(real.stat().st_mode)
        if (real.read_bytes() if real.exists() else None) != before:
            raise ConfigError(f"{display_path(path)} was changed by another program; nothing was written")
        write_private(real, after, mode)
    except OSError as error:
        raise ConfigError(f"cannot write {display_path(path)}: {error.strerror or error}") from error
    return path


def _changed(path: Path, before: bytes, change: Change) -> bytes:
    """Return the new text. It is checked twice: it must be valid, and change only what was wanted."""
    old = parse_settings(path, before or (b"{}" if path.suffix == ".json" else b""))
    load_settings(Sources(file=old))
    wanted: dict[str, Any] = json.loads(json.dumps(old.values, default=str))
    change(wanted)
    if path.suffix == ".json":
        text = json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
    else:
        text = _changed_toml(path, old.text, change)
    new = parse_settings(path, text.encode())
    load_settings(Sources(file=new))
    if json.loads(json.dumps(new.values, default=str)) != wanted:
        raise ConfigError(f"{display_path(path)} could not be changed safely; edit it by hand")
    return text.encode()


def _changed_toml(path: Path, text: str, change: Change) -> str:
    try:
        document = tomlkit.parse(text)
        change(document)
        changed = tomlkit.dumps(document)
        tomllib.loads(changed)
    except (TOMLKitError, ValueError) as error:
        raise ConfigError(
            f"{display_path(path)} could not be changed safely ({error}); edit it by hand"
        ) from error
    return changed


_SHARED = 0o644
_WILD = frozenset("*?")


def save_grant(
    grant: Grant, workspace: Path, directories: Directories, trust: Trust, user_file: Path | None = None
) -> Path:
    """Save a grant in the file of its scope, and return that file. Blocks.

    `user_file` is the user's settings file if it is not the usual one. If this raises `UserError`, nothing
    was written.
    """
    patterns = _patterns(grant, workspace)
    if grant.scope is GrantScope.PROJECT:
        return _save_for_project(workspace, trust, grant.key, patterns)
    return save_rules(user_file or settings_file_in(directories.config), grant.key, patterns, Effect.ALLOW)


def save_rules(
    path: Path, key: str, patterns: tuple[str, ...], effect: Effect, mode: int = OWNER_ONLY
) -> Path:
    """Add the rules at the end of the key's table, where they win. A new file gets `mode`."""
    return rewrite_settings(path, lambda document: _add(document, key, patterns, effect), mode)


def _save_for_project(workspace: Path, trust: Trust, key: str, patterns: tuple[str, ...]) -> Path:
    """Save rules for the project. The new content is trusted, because the user just decided on the change."""
    path = workspace / CONFIG_NAMES[0]
    try:
        found = [file for name in CONFIG_NAMES if (file := read_project_file(workspace, name))]
        if not path.parent.resolve().is_relative_to(workspace.resolve()):
            raise ProjectFileError("leads out of the project through a link")
    except ProjectFileError as error:
        raise UserError(f"{display_path(path)} {error}") from error
    if not all(trust.trusts(workspace, file) for file in found):
        raise UserError("this project is not trusted; run 'coder-tui trust' first")
    path = workspace / found[0].name if found else path
    path.parent.mkdir(exist_ok=True)
    save_rules(path, key, patterns, Effect.ALLOW, _SHARED)
    trust.trust_content(workspace, ProjectFile(path.relative_to(workspace).as_posix(), path.read_bytes()))
    return path


def _patterns(grant: Grant, workspace: Path) -> tuple[str, ...]:
    """Return the grant's patterns for a rule. Raises `UserError` if a rule would match more."""
    if grant.form is GrantForm.GLOB:
        return grant.patterns
    for pattern in grant.patterns:
        if not _WILD.isdisjoint(pattern):
            raise UserError(f"a rule cannot match exactly {pattern!r}: * and ? are wildcards in rules")
    if grant.scope is GrantScope.PROJECT:
        grant = replace(grant, patterns=tuple(_relative(pattern, workspace) for pattern in grant.patterns))
    if grant.form is GrantForm.FOLDER:
        return tuple(EVERYTHING if folder == "." else f"{folder}/*" for folder in grant.patterns)
    return grant.patterns


def _relative(pattern: str, workspace: Path) -> str:
    """Make a path relative, because the project may be in another folder for other people."""
    root = os.path.realpath(workspace)
    return str(PurePath(pattern).relative_to(root)) if PurePath(pattern).is_relative_to(root) else pattern


def _add(document: MutableMapping[str, Any], key: str, patterns: tuple[str, ...], effect: Effect) -> None:
    is_toml = isinstance(document, tomlkit.TOMLDocument)
    if PERMISSION not in document:
        document[PERMISSION] = tomlkit.table(is_super_table=True) if is_toml else {}
    permission = document[PERMISSION]
    if key not in permission:
        permission[key] = tomlkit.table() if is_toml else {}
    elif isinstance(permission[key], str):
        # One effect for the whole tool becomes a table that begins with it.
        inline = tomlkit.inline_table() if is_toml else {}
        inline[EVERYTHING] = str(permission[key])
        permission[key] = inline
    rules = permission[key]
    for pattern in patterns:
        rules.pop(pattern, None)
        rules[pattern] = effect.value


_SERVERS = "mcpServers"
_MCP = "mcp"


def add_to_settings(path: Path, name: str, section: Mapping[str, object]) -> Path:
    """Add a server to the user's settings.

    Raises `ConfigError`, or `UsageError` if the name is in use. Then nothing is written. Blocks.
    """

    def change(document: MutableMapping[str, Any]) -> None:
        is_toml = isinstance(document, tomlkit.TOMLDocument)
        if _MCP not in document:
            document[_MCP] = tomlkit.table(is_super_table=True) if is_toml else {}
        if name in document[_MCP]:
            raise _taken(name, path)
        document[_MCP][name] = dict(section)

    return rewrite_settings(path, change)


def add_to_project(workspace: Path, name: str, section: Mapping[str, object]) -> Path:
    """Add a server to `.mcp.json`, which other programs read as well."""
    values = _project_values(workspace)
    servers = values[_SERVERS]
    if name in servers:
        raise _taken(name, workspace / SERVERS_NAME)
    plain = dict(section)
    transport = plain.pop("transport", "http" if "url" in plain else "")
    servers[name] = {**({"type": transport} if transport else {}), **plain}
    return _write(workspace, values)


def remove_server(path: Path, name: str) -> Path:
    """Remove a server from either kind of file. Raises `UsageError` if it is not there."""
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
            # An empty table without its own heading would not be written.
            del document[_MCP]

    return rewrite_settings(path, change)


def _project_values(workspace: Path) -> dict[str, Any]:
    """Return the whole file, with its table of servers."""
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
    return UsageError(f"{display_path(path)} already has a server {name}; remove it first")


def _missing(name: str, path: Path) -> UsageError:
    return UsageError(f"{display_path(path)} has no server {name}; 'coder-tui mcp list' shows all of them")
