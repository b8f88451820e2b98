"""The settings as one checked value. Later sources override earlier ones.

Problems are reported so that the user can fix them: where, what, and the closest valid key.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)
from rapidfuzz import fuzz, process

from coder_tui.config import sections
from coder_tui.config.project_settings import HOOKS, MCP, PERMISSION
from coder_tui.config.sections import McpTable, PermissionTable
from coder_tui.config.settings_file import KeyPath
from coder_tui.config.sources import PREFIX, RawTable, Sources, layer_of, origin_of, variable_path
from coder_tui.policy.rules import PERMISSION_KEYS, is_permission_key
from coder_tui.protocol.errors import ConfigError
from coder_tui.text.safe_text import safe_line

ValidKeys = Mapping[str, tuple[str, ...]]
"""The keys of each section. `name[]` has those of the tables in a list of the section, and so on."""
_LIST = "[]"

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_VALUE = 60
_ALIKE = 60
_ALIKE_ELSEWHERE = 80

_NEEDS = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_too_short": "text that is not empty",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}


def complain(errors: Sequence[ErrorDetails], sources: Sources, valid: ValidKeys) -> list[str]:
    """Turn validation errors into sentences, in the order of the lines."""
    found = [_complaint(error, sources, valid) for error in errors]
    return [f"{origin}: {text}" for origin, text in sorted(found, key=lambda pair: _line(pair[0]))]


def unknown_key(path: KeyPath, valid: ValidKeys) -> str:
    return f'unknown key "{dotted(path)}"; {_advice(path, valid)}'


def unreadable_variable(path: KeyPath) -> str:
    if len(path) > 1:
        return f'{dotted(path)} must be JSON in a variable, such as ["a", "b"]'
    variable = f"{PREFIX}{dotted(path).upper()}__KEY"
    return f"{dotted(path)} must be a JSON object in a variable; to set one key, use {variable}"


def dotted(path: KeyPath) -> str:
    """Write a key path as TOML would."""
    parts = (str(part) for part in path)
    return safe_line(
        ".".join(p if _BARE_KEY.fullmatch(p) else json.dumps(p, ensure_ascii=False) for p in parts)
    )


def _complaint(error: ErrorDetails, sources: Sources, valid: ValidKeys) -> tuple[str, str]:
    path = _without_tag(error["loc"])
    if error["type"] == "extra_forbidden":
        text = unknown_key(path, valid)
    elif error["type"] == "missing":
        return origin_of(sources, path[:-1]), f"{dotted(path)} is missing"
    else:
        text = f"{dotted(path)} must be {_need(error)}, got {_shown(error['input'])}"
    return origin_of(sources, path), text


def _without_tag(path: KeyPath) -> KeyPath:
    """Drop the tag that the union in the permission table adds to the path of an error."""
    return (*path[:2], *path[3:]) if path[0] == "permission" else path


def _need(error: ErrorDetails) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            return "one of " + str(context["expected"]).replace(" or ", ", ").replace("'", '"')
        case "greater_than":
            return f"more than {_number(context['gt'])}"
        case "greater_than_equal":
            return f"at least {_number(context['ge'])}"
        case "less_than_equal":
            return f"at most {_number(context['le'])}"
        case kind:
            return _NEEDS.get(kind, f"valid ({error['msg']})")


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return safe_line(text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…")


def _advice(path: KeyPath, valid: ValidKeys) -> str:
    sections = tuple(name for name in valid if not name.endswith(_LIST))
    depth = sum(isinstance(part, int) for part in path)
    siblings = sections if len(path) == 1 else valid.get(f"{path[0]}{_LIST * depth}", ())
    name = str(path[-1])
    if near := process.extractOne(
        name, siblings, scorer=fuzz.ratio, processor=str.lower, score_cutoff=_ALIKE
    ):
        return f'did you mean "{dotted((*path[:-1], near[0]))}"?'
    elsewhere = {f"{section}.{key}": key for section in sections for key in valid[section]}
    if found := process.extractOne(name, elsewhere, scorer=fuzz.ratio, score_cutoff=_ALIKE_ELSEWHERE):
        return f'did you mean "{found[2]}"?'
    return f"valid keys: {', '.join(siblings or sections)}"


def _line(origin: str) -> int:
    line = origin.rpartition(":")[2]
    return int(line) if line.isdecimal() else 0


_NO_SOURCES = Sources()
# The library builds its sources inside the class, so this passes them their values.
_active: ContextVar[Sources] = ContextVar("_active", default=_NO_SOURCES)


class _RawSource(PydanticBaseSettingsSource):
    """A table as it is: the library's own source would change the case of section names."""

    def __init__(self, settings_cls: type[BaseSettings], values: RawTable) -> None:
        super().__init__(settings_cls)
        self._values = values

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return dict(self._values)


class Settings(BaseSettings):
    """All settings. Without sources these are the defaults, whatever the process environment contains."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    model: sections.ModelSection = sections.ModelSection()
    agents: sections.AgentsSection = sections.AgentsSection()
    permission: PermissionTable = Field(default_factory=dict)
    bash: sections.BashSection = sections.BashSection()
    workspace: sections.WorkspaceSection = sections.WorkspaceSection()
    fetch: sections.FetchSection = sections.FetchSection()
    websearch: sections.WebsearchSection = sections.WebsearchSection()
    skills: sections.SkillsSection = sections.SkillsSection()
    lsp: sections.LspTable = Field(default_factory=dict)
    mcp: McpTable = Field(default_factory=dict)
    tools: sections.ToolsSection = sections.ToolsSection()
    hooks: sections.HooksSection = sections.HooksSection()
    limits: sections.LimitsSection = sections.LimitsSection()
    undo: sections.UndoSection = sections.UndoSection()
    verify: sections.VerifySection = sections.VerifySection()
    ui: sections.UiSection = sections.UiSection()
    experimental: sections.ExperimentalSection = sections.ExperimentalSection()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        sources = _active.get()
        return (
            init_settings,
            _RawSource(settings_cls, sources.flags),
            _environ_source(settings_cls, sources.environ),
            _RawSource(settings_cls, sources.project_values),
            _RawSource(settings_cls, sources.file.values if sources.file else {}),
        )


def load_settings(sources: Sources) -> Settings:
    """Merge and check the sources. Raises `ConfigError` with all problems at once, one per line."""
    wrong = _wrong_variables(sources)
    wrong_rules = _wrong_project_rules(sources)
    readable = replace(sources, environ={k: v for k, v in sources.environ.items() if k not in wrong})
    token = _active.set(readable)
    try:
        settings = Settings()
    except ValidationError as error:
        found = complain(error.errors(include_url=False), readable, _valid_keys())
        raise ConfigError("\n".join([*found, *wrong_rules, *wrong.values()])) from error
    finally:
        _active.reset(token)
    wrong_keys = _wrong_permission_keys(settings.permission, sources)
    if problems := [*wrong_keys, *wrong_rules, *wrong.values()]:
        raise ConfigError("\n".join(problems))
    return settings.model_copy(update={"permission": _in_source_order(settings.permission, sources)})


def _environ_source(settings_cls: type[BaseSettings], environ: Mapping[str, str]) -> EnvSettingsSource:
    source = EnvSettingsSource(settings_cls)
    source.env_vars = {name.lower(): value for name, value in environ.items()}
    return source


def _wrong_variables(sources: Sources) -> dict[str, str]:
    """Report variables that the library would ignore, or reject without naming them."""
    wrong: dict[str, str] = {}
    for name, value in sources.environ.items():
        path = variable_path(name)
        if path[0] not in Settings.model_fields:
            wrong[name] = f"{name}: {unknown_key(path, _valid_keys())}"
            continue
        try:
            _environ_source(Settings, {name: value})()
        except SettingsError:
            wrong[name] = f"{name}: {unreadable_variable(path)}"
    return wrong


def _wrong_permission_keys(table: PermissionTable, sources: Sources) -> list[str]:
    """Report unknown tools: a rule for a misspelled tool would never apply."""
    return [
        f"{origin_of(sources, path)}: {unknown_key(path, {'permission': PERMISSION_KEYS})}"
        for path in (("permission", key) for key in table if not is_permission_key(key))
    ]


class _ProjectLayers(BaseModel):
    permission: PermissionTable
    hooks: sections.HooksSection
    mcp: McpTable


def _wrong_project_rules(sources: Sources) -> list[str]:
    """Check a trusted project's rules, hooks and servers, which are not part of the settings."""
    project = sources.project
    if project is None or project.file is None or not project.is_trusted:
        return []
    alone = Sources(file=project.file)
    try:
        layers = _ProjectLayers.model_validate(
            {PERMISSION: project.rules, HOOKS: project.hooks, MCP: project.servers}
        )
    except ValidationError as error:
        return complain(error.errors(include_url=False), alone, _valid_keys())
    return _wrong_permission_keys(layers.permission, alone)


def _valid_keys() -> ValidKeys:
    """Return the keys of each section, or of its tables. A section that accepts any key has none."""
    keys = {name: tuple(_section_fields(field)) for name, field in Settings.model_fields.items()}
    groups = {
        "hooks[]": tuple(sections.HookGroup.model_fields),
        "hooks[][]": tuple(sections.HookCommand.model_fields),
    }
    return {**keys, **groups}


def _section_fields(field: FieldInfo) -> Iterable[str]:
    kind = field.annotation
    if get_origin(kind) is dict:
        kind = get_args(kind)[1]
    return kind.model_fields if isinstance(kind, type) and issubclass(kind, sections.Section) else ()


def _in_source_order(table: PermissionTable, sources: Sources) -> PermissionTable:
    """Put the rules of a stronger source after those of a weaker one, because the last match wins."""

    def strength(*path: str) -> int:
        return layer_of(sources, ("permission", *path))

    ordered = {key: table[key] for key in sorted(table, key=strength)}
    for key, rule in ordered.items():
        if isinstance(rule, dict):
            ordered[key] = {
                pattern: rule[pattern] for pattern in sorted(rule, key=lambda name: strength(key, name))
            }
    return ordered
