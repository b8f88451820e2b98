"""A project's own settings. Until the project is trusted, only rules that make things stricter apply.

Permission tables of the user and of the project become rules, each with its source.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from coder_tui.config.paths import display_path
from coder_tui.config.project import (
    CONFIG_NAMES,
    ProjectFile,
    ProjectFileError,
    drop_never_used,
    read_project_file,
)
from coder_tui.config.sections import PermissionTable
from coder_tui.config.settings_file import KeyPath, SettingsFile, parse_settings
from coder_tui.config.sources import Sources, origin_of
from coder_tui.config.trust import Trust
from coder_tui.policy.rules import EVERYTHING, Effect, Layer, Rule, is_permission_key
from coder_tui.protocol.errors import ConfigError

PERMISSION = "permission"
HOOKS = "hooks"
MCP = "mcp"
MOST_UNTRUSTED_RULES = 500
_HOW = "run 'coder-tui trust' to see what it would do and to decide"


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """A project's settings. `values` has what it may set: nothing before trust, and never rules."""

    name: str
    file: SettingsFile | None
    is_trusted: bool
    values: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def rules(self) -> object:
        """The permission table as the file has it, unchecked."""
        return self.file.values.get(PERMISSION, {}) if self.file else {}

    @property
    def hooks(self) -> object:
        """The table of hooks as the file has it, unchecked. They run in addition to the user's hooks."""
        return self.file.values.get(HOOKS, {}) if self.file else {}

    @property
    def servers(self) -> object:
        """The table of MCP servers, unchecked. Merged with the user's servers it could get their secrets."""
        return self.file.values.get(MCP, {}) if self.file else {}

    def place(self, path: KeyPath) -> str:
        return self.file.place(path) if self.file else self.name


def find_project_settings(workspace: Path, trust: Trust) -> ProjectSettings | None:
    """Return the project's settings, or None. Only trusted settings can raise `ConfigError`."""
    try:
        found = [file for name in CONFIG_NAMES if (file := read_project_file(workspace, name))]
    except ProjectFileError as error:
        warning = f"{CONFIG_NAMES[0]} of this folder {error}; it is not used"
        return ProjectSettings(CONFIG_NAMES[0], None, is_trusted=False, warnings=(warning,))
    if not found:
        return None
    if all(trust.trusts(workspace, file) for file in found):
        return _trusted(workspace, found)
    return _untrusted(workspace, found[0], trust.problem)


def _trusted(workspace: Path, found: list[ProjectFile]) -> ProjectSettings:
    if len(found) > 1:
        places = [display_path(workspace / file.name) for file in found]
        raise ConfigError(f"{places[0]} and {places[1]} both exist; keep one of them")
    file = parse_settings(workspace / found[0].name, found[0].data)
    own_layers = (PERMISSION, HOOKS, MCP)
    kept, left_out = drop_never_used(
        {key: value for key, value in file.values.items() if key not in own_layers}
    )
    warnings = tuple(
        f"{file.place(path)}: {'.'.join(map(str, path))} is ignored: a project can never set it"
        for path in left_out
    )
    return ProjectSettings(found[0].name, file, is_trusted=True, values=kept, warnings=warnings)


def _untrusted(workspace: Path, found: ProjectFile, problem: str) -> ProjectSettings:
    warning = f"found {found.name}, not used: this folder is not trusted; {_HOW}"
    warnings = (warning, problem) if problem else (warning,)
    try:
        file = parse_settings(workspace / found.name, found.data)
    except ConfigError as error:
        return ProjectSettings(found.name, None, is_trusted=False, warnings=(*warnings, str(error)))
    if _rule_count(file.values.get(PERMISSION)) > MOST_UNTRUSTED_RULES:
        # Each is matched against every call: without a limit an untrusted file could stop everything.
        limit = f"{found.name} has too many rules: only the first {MOST_UNTRUSTED_RULES} are used"
        warnings = (*warnings, limit)
    return ProjectSettings(found.name, file, is_trusted=False, warnings=warnings)


def _rule_count(table: object) -> int:
    values = table.values() if isinstance(table, Mapping) else ()
    return sum(len(value) if isinstance(value, Mapping) else 1 for value in values)


USER = "user"
PROJECT = "project"


def user_layer(table: PermissionTable, sources: Sources) -> Layer:
    """Return the user's rules in the order of the table: within a layer the last match wins."""
    return Layer(
        USER,
        tuple(
            Rule(
                key,
                pattern,
                effect,
                origin_of(sources, path),
                yields_to_mode=pattern == EVERYTHING and effect is Effect.ASK,
            )
            for path, key, pattern, effect in _entries(table)
        ),
    )


def project_layer(project: ProjectSettings) -> Layer:
    """Return a project's rules. Without trust, only those that ask or deny.

    Without its own exceptions, the rest is stricter than the project meant, but never less strict.
    """
    entries = _entries(project.rules) if isinstance(project.rules, Mapping) else iter(())
    if not project.is_trusted:
        entries = islice(entries, MOST_UNTRUSTED_RULES)
    return Layer(
        PROJECT,
        tuple(
            Rule(key, pattern, effect, project.place(path))
            for path, key, pattern, effect in entries
            if project.is_trusted or (effect is not Effect.ALLOW and is_permission_key(key))
        ),
    )


def _entries(table: Mapping[str, object]) -> Iterator[tuple[KeyPath, str, str, Effect]]:
    """Yield the rules of a table. Invalid entries are skipped: a trusted file was checked before."""
    effects = {effect.value: effect for effect in Effect}
    for key, value in table.items():
        if isinstance(value, str) and value in effects:
            yield (PERMISSION, key), key, EVERYTHING, effects[value]
        elif isinstance(value, Mapping):
            for pattern, effect in value.items():
                if isinstance(effect, str) and effect in effects:
                    yield (PERMISSION, key, pattern), key, pattern, effects[effect]
