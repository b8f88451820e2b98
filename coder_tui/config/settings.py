"""The settings as one checked value, from all sources, the later winning."""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from coder_tui.config.complaints import ValidKeys, complain, unknown_key, unreadable_variable
from coder_tui.config.project_settings import HOOKS, MCP, PERMISSION
from coder_tui.config.sections import (
    AgentsSection,
    BashSection,
    ExperimentalSection,
    FetchSection,
    HookCommand,
    HookGroup,
    HooksSection,
    LimitsSection,
    LspTable,
    McpTable,
    ModelSection,
    PermissionTable,
    Section,
    SkillsSection,
    ToolsSection,
    UiSection,
    UndoSection,
    VerifySection,
    WebsearchSection,
    WorkspaceSection,
)
from coder_tui.config.sources import PREFIX, RawTable, Sources, layer_of, origin_of, variable_path
from coder_tui.policy.rules import PERMISSION_KEYS, is_permission_key
from coder_tui.protocol.errors import ConfigError

_NO_SOURCES = Sources()
# The library builds its sources inside the class, so what they read comes by this way.
_active: ContextVar[Sources] = ContextVar("_active", default=_NO_SOURCES)


class _RawSource(PydanticBaseSettingsSource):
    """A table as it is: the library's own would fold the case of section names."""

    def __init__(self, settings_cls: type[BaseSettings], values: RawTable) -> None:
        super().__init__(settings_cls)
        self._values = values

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        return self._values.get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        return dict(self._values)


class Settings(BaseSettings):
    """Without sources: the defaults, whatever the process environment holds."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    model: ModelSection = ModelSection()
    agents: AgentsSection = AgentsSection()
    permission: PermissionTable = Field(default_factory=dict)
    bash: BashSection = BashSection()
    workspace: WorkspaceSection = WorkspaceSection()
    fetch: FetchSection = FetchSection()
    websearch: WebsearchSection = WebsearchSection()
    skills: SkillsSection = SkillsSection()
    lsp: LspTable = Field(default_factory=dict)
    mcp: McpTable = Field(default_factory=dict)
    tools: ToolsSection = ToolsSection()
    hooks: HooksSection = HooksSection()
    limits: LimitsSection = LimitsSection()
    undo: UndoSection = UndoSection()
    verify: VerifySection = VerifySection()
    ui: UiSection = UiSection()
    experimental: ExperimentalSection = ExperimentalSection()

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
    """Check and merge; everything that is wrong is told at once, a line each."""
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
    """Complain of variables that the library would pass over, or refuse without naming them."""
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
    """A misspelt tool would be a rule that never holds."""
    return [
        f"{origin_of(sources, path)}: {unknown_key(path, {'permission': PERMISSION_KEYS})}"
        for path in (("permission", key) for key in table if not is_permission_key(key))
    ]


class _ProjectLayers(BaseModel):
    permission: PermissionTable
    hooks: HooksSection
    mcp: McpTable


def _wrong_project_rules(sources: Sources) -> list[str]:
    """A trusted project's rules, hooks and servers are no part of the settings, and checked all the same."""
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
    """The keys of each section, or of each of its tables; a section that takes any key has none."""
    keys = {name: tuple(_section_fields(field)) for name, field in Settings.model_fields.items()}
    groups = {"hooks[]": tuple(HookGroup.model_fields), "hooks[][]": tuple(HookCommand.model_fields)}
    return {**keys, **groups}


def _section_fields(field: FieldInfo) -> Iterable[str]:
    kind = field.annotation
    if get_origin(kind) is dict:
        kind = get_args(kind)[1]
    return kind.model_fields if isinstance(kind, type) and issubclass(kind, Section) else ()


def _in_source_order(table: PermissionTable, sources: Sources) -> PermissionTable:
    """Put a stronger source's rules after a weaker one's: the last match wins."""

    def strength(*path: str) -> int:
        return layer_of(sources, ("permission", *path))

    ordered = {key: table[key] for key in sorted(table, key=strength)}
    for key, rule in ordered.items():
        if isinstance(rule, dict):
            ordered[key] = {
                pattern: rule[pattern] for pattern in sorted(rule, key=lambda name: strength(key, name))
            }
    return ordered
