"""Adds what a person allowed for good to a settings file, without losing a word of what stands there."""

import os
from collections.abc import MutableMapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import tomlkit

from coder_tui.config.paths import Directories, display_path
from coder_tui.config.private_file import OWNER_ONLY
from coder_tui.config.project import CONFIG_NAMES, ProjectFile, ProjectFileError, read_project_file
from coder_tui.config.project_settings import PERMISSION
from coder_tui.config.settings_writer import rewrite_settings, settings_file_in
from coder_tui.config.trust import Trust
from coder_tui.policy.rules import EVERYTHING, Effect
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope

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
