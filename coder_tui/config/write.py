"""Changes a settings file, without losing a word of what stands there.

Adds what a person allowed for good to a settings file, without losing a word of what stands there.
"""

import json
import os
import stat
import tomllib
from collections.abc import Callable, MutableMapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from coder_tui.config.own_files import OWNER_ONLY, write_private
from coder_tui.config.paths import Directories, display_path
from coder_tui.config.project import CONFIG_NAMES, ProjectFile, ProjectFileError, read_project_file
from coder_tui.config.project_settings import PERMISSION
from coder_tui.config.settings import load_settings
from coder_tui.config.settings_file import parse_settings
from coder_tui.config.sources import Sources
from coder_tui.config.trust import Trust
from coder_tui.policy.rules import EVERYTHING, Effect
from coder_tui.protocol.errors import ConfigError, UserError
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope

Change = Callable[[MutableMapping[str, Any]], None]
"""Done once to plain values, and once to a TOML document, which has tables of its own."""
_NAMES = ("config.toml", "config.json")


def settings_file_in(folder: Path) -> Path:
    """The one that is there, else the one to begin."""
    found = [folder / name for name in _NAMES if (folder / name).exists()]
    if len(found) > 1:
        raise ConfigError(
            f"{display_path(found[0])} and {display_path(found[1])} both exist; keep one of them"
        )
    return found[0] if found else folder / _NAMES[0]


def save_setting(path: Path, section: str, key: str, value: str) -> Path:
    """Set one value of the person's own file. Raises `ConfigError`, with nothing written. Blocks."""

    def change(document: MutableMapping[str, Any]) -> None:
        if section not in document:
            document[section] = tomlkit.table() if isinstance(document, tomlkit.TOMLDocument) else {}
        document[section][key] = value

    return rewrite_settings(path, change)


def rewrite_settings(path: Path, change: Change, mode: int = OWNER_ONLY) -> Path:
    """A new file gets `mode`. Raises `ConfigError`, with nothing written. Blocks."""
    real = Path(os.path.realpath(path))  # a file that is kept elsewhere and linked stays linked
    try:
        real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = real.read_bytes() if real.exists() else None
        after = _changed(path, before or b"", change)
        if before is not None:
            mode = stat.S_IMODE(real.stat().st_mode)
        if (real.read_bytes() if real.exists() else None) != before:
            raise ConfigError(f"{display_path(path)} was changed meanwhile; nothing was written")
        write_private(real, after, mode)
    except OSError as error:
        raise ConfigError(f"cannot write {display_path(path)}: {error.strerror or error}") from error
    return path


def _changed(path: Path, before: bytes, change: Change) -> bytes:
    """Checked twice: the new text must be right, and say nothing else than was wanted."""
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
        raise ConfigError(f"{display_path(path)} could not be changed safely; do it by hand")
    return text.encode()


def _changed_toml(path: Path, text: str, change: Change) -> str:
    try:
        document = tomlkit.parse(text)
        change(document)
        changed = tomlkit.dumps(document)
        tomllib.loads(changed)
    except (TOMLKitError, ValueError) as error:
        raise ConfigError(
            f"{display_path(path)} could not be changed safely ({error}); do it by hand"
        ) from error
    return changed


_SHARED = 0o644
_WILD = frozenset("*?")


def save_grant(
    grant: Grant, workspace: Path, directories: Directories, trust: Trust, user_file: Path | None = None
) -> Path:
    """Save where the grant's scope says; returns the file. Raises `UserError`, with nothing written. Blocks.

    `user_file` is the person's settings file where that is not the usual one.
    """
    patterns = _patterns(grant, workspace)
    if grant.scope is GrantScope.PROJECT:
        return _save_for_project(workspace, trust, grant.key, patterns)
    return save_rules(user_file or settings_file_in(directories.config), grant.key, patterns, Effect.ALLOW)


def save_rules(
    path: Path, key: str, patterns: tuple[str, ...], effect: Effect, mode: int = OWNER_ONLY
) -> Path:
    """Put the rules last in the key's table, where they win; a new file gets `mode`."""
    return rewrite_settings(path, lambda document: _add(document, key, patterns, effect), mode)


def _save_for_project(workspace: Path, trust: Trust, key: str, patterns: tuple[str, ...]) -> Path:
    """The new content is trusted where the old one was: the person just decided on the difference."""
    path = workspace / CONFIG_NAMES[0]
    try:
        found = [file for name in CONFIG_NAMES if (file := read_project_file(workspace, name))]
        if not path.parent.resolve().is_relative_to(workspace.resolve()):
            raise ProjectFileError("leads out of the project through a link")
    except ProjectFileError as error:
        raise UserError(f"{display_path(path)} {error}") from error
    if not all(trust.trusts(workspace, file) for file in found):
        raise UserError("this project is not trusted; 'coder-tui trust' asks about it")
    path = workspace / found[0].name if found else path
    path.parent.mkdir(exist_ok=True)
    save_rules(path, key, patterns, Effect.ALLOW, _SHARED)
    trust.renew(workspace, ProjectFile(path.relative_to(workspace).as_posix(), path.read_bytes()))
    return path


def _patterns(grant: Grant, workspace: Path) -> tuple[str, ...]:
    """The grant's patterns as a rule has them; what a rule would read more widely is refused."""
    if grant.form is GrantForm.GLOB:
        return grant.patterns
    for pattern in grant.patterns:
        if not _WILD.isdisjoint(pattern):
            raise UserError(f"a rule cannot name exactly {pattern!r}: * and ? stand for anything in it")
    if grant.scope is GrantScope.PROJECT:
        grant = replace(grant, patterns=tuple(_relative(pattern, workspace) for pattern in grant.patterns))
    if grant.form is GrantForm.FOLDER:
        return tuple(EVERYTHING if folder == "." else f"{folder}/*" for folder in grant.patterns)
    return grant.patterns


def _relative(pattern: str, workspace: Path) -> str:
    """A project may lie elsewhere for somebody else."""
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
