"""The schema of each settings section. Unknown keys are errors, so that typing mistakes are found.

The meaning of each key, as shown in docs/reference/settings.md, is in bench/reference.toml.
"""

from pathlib import PurePath
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from coder_tui.text.name_pattern import name_pattern


class Section(BaseModel):
    """The base of every section: closed and frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


QuestionsWhen = Literal["plan", "always"]


class AgentsSection(Section):
    """When agents may ask questions, and agents of the user.

    `custom` has a table for each, like an agent's file.
    """

    questions: QuestionsWhen = "plan"
    custom: dict[str, dict[str, object]] = Field(default_factory=dict)


class BashSection(Section):
    """How commands run: shell, limits, sandbox, environment and network."""

    shell: str = Field(default="/bin/sh", min_length=1)
    timeout_ms: int = Field(default=120_000, ge=1, le=600_000)
    output_limit_bytes: int = Field(default=30_000, ge=1)
    sandbox: Literal["auto", "required", "off"] = "auto"
    pass_environment: tuple[str, ...] = ()
    network: tuple[str, ...] = ()


class ExperimentalSection(Section):
    """Switches for features that may still change."""

    batch_tool: bool = False
    websearch: bool = False
    plan_mode: bool = True


def _exact_host(host: str) -> str:
    if not host or any(char in host for char in "*/?#@ ") or "://" in host:
        raise ValueError("must be one exact host, such as git.example.org")
    return host.lower().removesuffix(".")


class FetchSection(Section):
    """How the web is reached.

    Certificates of `insecure_hosts` are not checked; a project can never set them.
    """

    proxy: str = ""
    ca_bundle: str = ""
    insecure_hosts: tuple[Annotated[str, AfterValidator(_exact_host)], ...] = ()


class LimitsSection(Section):
    """When a turn stops automatically. None means no limit."""

    max_steps: int = Field(default=200, ge=1)
    max_cost: Annotated[float, Field(ge=0)] | None = None
    max_minutes: Annotated[float, Field(gt=0)] | None = None
    repeated_calls: int = Field(default=3, ge=2)


EVERY_SERVER = "*"
"""The name that means all servers."""


class LspServerSection(Section):
    """Changes a known language server, or adds one. `command` is a list, or one text without quotes."""

    enabled: bool | None = None
    command: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    language_id: str = ""
    root_markers: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)
    initialization: dict[str, Any] = Field(default_factory=dict)
    env: dict[str, str] = Field(default_factory=dict)
    network: bool = False

    @field_validator("command", mode="before")
    @classmethod
    def _split_text(cls, value: object) -> object:
        return tuple(value.split()) if isinstance(value, str) else value

    @field_validator("extensions")
    @classmethod
    def _with_dots(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f".{suffix.lstrip('.')}" for suffix in value)


LspTable = dict[str, LspServerSection]


Effort = Literal["", "minimal", "low", "medium", "high"]


class ModelSection(Section):
    """The model and how to reach it. An empty text means the provider's default."""

    name: str = ""
    small: str = ""
    api_base: str = ""
    effort: Effort = ""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    context_window: Annotated[int, Field(ge=1)] | None = None
    idle_timeout_sec: float = Field(default=120, gt=0)
    max_retries: int = Field(default=5, ge=0)
    proxy: str = ""
    ca_bundle: str = ""


Effect = Literal["allow", "ask", "deny"]

# The tags are the third part of an error's path, although the user's file has no such key.
EFFECT_TAG = "effect"
PATTERNS_TAG = "patterns"


def _tag(value: object) -> str:
    return PATTERNS_TAG if isinstance(value, dict) else EFFECT_TAG


Rule = Annotated[
    Annotated[Effect, Tag(EFFECT_TAG)] | Annotated[dict[str, Effect], Tag(PATTERNS_TAG)],
    Discriminator(_tag),
]
PermissionTable = dict[str, Rule]
"""A tool or group, then an effect, or patterns with one each. The last match wins."""


def _absolute_path(path: str) -> str:
    # A relative path would lead into the open project, trusted or not.
    if not (PurePath(path).is_absolute() or path.startswith("~/")):
        raise ValueError("must be an absolute path, such as ~/skills or /srv/skills")
    return path


class SkillsSection(Section):
    """More folders of skills, searched after the user's own. The later wins. A project can never set them."""

    paths: tuple[Annotated[str, AfterValidator(_absolute_path)], ...] = ()


class ToolsSection(Section):
    """How tools behave, and commands that provide more of them.

    `discovery_command` prints tools as JSON, `call_command` runs one.
    """

    edit_wait_sec: float = Field(default=0.3, ge=0, le=600)
    discovery_command: str = ""
    call_command: str = ""
    discovery_timeout_sec: float = Field(default=30.0, gt=0, le=600)
    call_timeout_sec: float = Field(default=120.0, gt=0, le=3600)


Thinking = Literal["hidden", "summary", "full"]
Approvals = Literal["letters", "chord"]


class UiSection(Section):
    """The screen. `keys` assigns other keys to actions by their ids; the screen checks them."""

    theme: str = "coder-dark"
    motion: bool = True
    thinking: Thinking = "summary"
    approvals: Approvals = "letters"
    keys: dict[str, str] = Field(default_factory=dict)


class UndoSection(Section):
    """What is kept for undo. With `commands`, the workspace is compared before and after each command."""

    commands: bool = True
    most_files: int = Field(default=50_000, ge=0)
    largest_file_mb: float = Field(default=10, ge=0)
    keep_days: float = Field(default=30, gt=0)
    keep_mb: float = Field(default=2000, ge=0)


class VerifySection(Section):
    """The check after turns that changed files.

    Without a `command`, the user's choice for the folder runs.
    """

    enabled: bool = True
    command: str = ""
    max_rounds: int = Field(default=3, ge=0)
    timeout_sec: float = Field(default=300, gt=0, le=600)


class WebsearchSection(Section):
    """The search service."""

    base_url: str = Field(default="https://api.exa.ai", pattern=r"^https?://[^/\s@]+(/\S*)?$")


class WorkspaceSection(Section):
    """The folders that tools may work in."""

    extra_roots: tuple[str, ...] = ()


Seconds = Annotated[float, Field(gt=0, le=3600)]
START_SECONDS = 60.0
CALL_SECONDS = 300.0


def _address(url: str) -> str:
    # The value of a variable is not known here.
    if url and not url.startswith(("http://", "https://", "${")):
        raise ValueError("must begin with http:// or https://")
    return url


class McpServerSection(Section):
    """An MCP server. Without `command` and `url` it changes the server of that name, whatever its source.

    `${NAME}` is replaced by the environment variable, `${NAME:-x}` by x if that is not set.
    """

    enabled: bool | None = None
    command: str | tuple[str, ...] = ""
    """A program, or a program and its first arguments."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str = ""
    url: Annotated[str, AfterValidator(_address)] = ""
    transport: Literal["", "stdio", "http", "sse"] = ""
    headers: dict[str, str] = Field(default_factory=dict)
    start_timeout_sec: Seconds = START_SECONDS
    timeout_sec: Seconds = CALL_SECONDS
    include_tools: tuple[str, ...] = ()
    exclude_tools: tuple[str, ...] = ()
    sandbox: Literal["auto", "off"] = "auto"
    network: bool = True
    writable: tuple[str, ...] = ()
    """Folders that a confined server may write. Relative ones are below the workspace.

    Not the workspace itself, unless it is named: names that programs outside the sandbox obey (`.git`,
    `.envrc`) cannot be reserved for as long as a server runs.
    """

    @property
    def argv(self) -> tuple[str, ...]:
        words = (self.command,) if isinstance(self.command, str) else self.command
        return (*(word for word in words if word), *self.args)

    @property
    def is_confined(self) -> bool:
        return bool(self.argv) and self.sandbox == "auto"

    @property
    def is_whole(self) -> bool:
        """Whether it has a command or an address of its own."""
        return bool(self.argv or self.url)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.argv and self.url:
            raise ValueError("has both command and url; keep one of them")
        if self.args and not self.command:
            raise ValueError("has args but no command; add one")
        if self.argv and self.transport in ("http", "sse"):
            raise ValueError(f'has a command, which needs transport "stdio", not "{self.transport}"')
        if self.url and self.transport == "stdio":
            raise ValueError('has a url, which needs transport "http" or "sse", not "stdio"')
        return self


McpTable = dict[str, McpServerSection]


EVERY = ("", "*")
MOST_SECONDS = 600


class HookCommand(Section):
    """One command of a hook. `timeout` is in seconds. `sandbox = false` works only in the user's settings.

    `on_failure` decides if the hook gives no answer. Without it, the user is asked about a call, and anything
    else continues.
    """

    type: Literal["command"] = "command"
    command: str = Field(min_length=1)
    timeout: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    sandbox: bool = True
    on_failure: Literal["ask", "deny", "allow"] | None = None


class HookGroup(Section):
    """Hooks for some tools. `matcher` is a regular expression over their names; empty or `*` means all."""

    matcher: str = ""
    hooks: tuple[HookCommand, ...] = ()

    @field_validator("matcher")
    @classmethod
    def _is_expression(cls, matcher: str) -> str:
        if matcher not in EVERY:
            name_pattern(matcher)
        return matcher


class HooksSection(Section):
    """Commands that run automatically, by event. Other programs use the same names of events."""

    PreToolUse: tuple[HookGroup, ...] = ()
    PostToolUse: tuple[HookGroup, ...] = ()
    UserPromptSubmit: tuple[HookGroup, ...] = ()
    Stop: tuple[HookGroup, ...] = ()
    SubagentStop: tuple[HookGroup, ...] = ()
    SessionStart: tuple[HookGroup, ...] = ()
    SessionEnd: tuple[HookGroup, ...] = ()
    PreCompact: tuple[HookGroup, ...] = ()
    Notification: tuple[HookGroup, ...] = ()

    @field_validator(
        "PostToolUse",
        "UserPromptSubmit",
        "Stop",
        "SubagentStop",
        "SessionStart",
        "SessionEnd",
        "PreCompact",
        "Notification",
    )
    @classmethod
    def _asks_nobody(cls, groups: tuple[HookGroup, ...]) -> tuple[HookGroup, ...]:
        if any(hook.on_failure == "ask" for group in groups for hook in group.hooks):
            raise ValueError('cannot have on_failure = "ask": only PreToolUse can ask about a call')
        return groups
