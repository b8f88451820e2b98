"""The base of every settings section: closed, so that a typing mistake is seen, and frozen.

Settings of agents: when they may ask, and agents of one's own.

Settings of the shell tool.

Switches for what may still change.

Settings of the way to the web.

Settings of where a turn stops by itself.

Settings of language servers, by name: a known one is changed, any other added.

Settings of the model and the way to it.

The permission table: a tool or group, then an effect, or patterns with one each.

Settings of the folders that skills are looked for in.

Settings of the commands that bring further tools.

Settings of the screen.

Settings of what is kept so that turns can be undone.

Settings of the check that runs after turns that changed something.

Settings of the search service.

Settings of the folders that tools may work in.

Settings of MCP servers, by name: what is started, what is spoken to, or a change of either.

Settings of hooks: commands that run by themselves when something happens.
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
    model_config = ConfigDict(extra="forbid", frozen=True)


QuestionsWhen = Literal["plan", "always"]


class AgentsSection(Section):
    """`custom` has a table for each agent, with the fields of an agent's file, and checked as there."""

    questions: QuestionsWhen = "plan"
    custom: dict[str, dict[str, object]] = Field(default_factory=dict)


class BashSection(Section):
    shell: str = Field(default="/bin/sh", min_length=1)
    timeout_ms: int = Field(default=120_000, ge=1, le=600_000)
    output_limit_bytes: int = Field(default=30_000, ge=1)
    sandbox: Literal["auto", "required", "off"] = "auto"
    pass_environment: tuple[str, ...] = ()
    network: tuple[str, ...] = ()


class ExperimentalSection(Section):
    batch_tool: bool = False
    websearch: bool = False
    plan_mode: bool = True


def _exact_host(host: str) -> str:
    if not host or any(char in host for char in "*/?#@ ") or "://" in host:
        raise ValueError("must be one exact host, such as git.example.org")
    return host.lower().removesuffix(".")


class FetchSection(Section):
    """Of the hosts in `insecure_hosts` the certificate is not checked; a project must never set them."""

    proxy: str = ""
    ca_bundle: str = ""
    insecure_hosts: tuple[Annotated[str, AfterValidator(_exact_host)], ...] = ()


class LimitsSection(Section):
    """None means no limit."""

    max_steps: int = Field(default=200, ge=1)
    max_cost: Annotated[float, Field(ge=0)] | None = None
    max_minutes: Annotated[float, Field(gt=0)] | None = None
    repeated_calls: int = Field(default=3, ge=2)


EVERY_SERVER = "*"
"""The name that stands for all of them."""


class LspServerSection(Section):
    """`command` in words, or as one text without quoting; what is left out stays as it is known."""

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
    def _in_words(cls, value: object) -> object:
        return tuple(value.split()) if isinstance(value, str) else value

    @field_validator("extensions")
    @classmethod
    def _with_dots(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f".{suffix.lstrip('.')}" for suffix in value)


LspTable = dict[str, LspServerSection]


Effort = Literal["", "minimal", "low", "medium", "high"]


class ModelSection(Section):
    """Empty text means that nothing was chosen: the provider's default holds."""

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

# The tags stand third in the place of an error, where a person's file has no such key.
EFFECT_TAG = "effect"
PATTERNS_TAG = "patterns"


def _tag(value: object) -> str:
    return PATTERNS_TAG if isinstance(value, dict) else EFFECT_TAG


Rule = Annotated[
    Annotated[Effect, Tag(EFFECT_TAG)] | Annotated[dict[str, Effect], Tag(PATTERNS_TAG)],
    Discriminator(_tag),
]
PermissionTable = dict[str, Rule]
"""In the order of the sources and, inside one, of its text: the last match wins."""


def _whole_path(path: str) -> str:
    # From the workspace a relative one would lead into whatever project is open, trusted or not.
    if not (PurePath(path).is_absolute() or path.startswith("~/")):
        raise ValueError("must be a whole path, such as ~/skills or /srv/skills")
    return path


class SkillsSection(Section):
    """Further folders, searched after the person's own; the later wins. A project must never set them."""

    paths: tuple[Annotated[str, AfterValidator(_whole_path)], ...] = ()


class ToolsSection(Section):
    """`discovery_command` prints tools as JSON; `call_command` gets the name of one and its arguments."""

    discovery_command: str = ""
    call_command: str = ""
    discovery_timeout_sec: float = Field(default=30.0, gt=0, le=600)
    call_timeout_sec: float = Field(default=120.0, gt=0, le=3600)


Thinking = Literal["hidden", "summary", "full"]
Approvals = Literal["letters", "chord"]


class UiSection(Section):
    """`keys` gives actions, by their ids, other keys; the screen checks them against its table."""

    theme: str = "coder-dark"
    motion: bool = True
    thinking: Thinking = "summary"
    approvals: Approvals = "letters"
    keys: dict[str, str] = Field(default_factory=dict)


class UndoSection(Section):
    """`commands`: whether the files of the workspace are looked at before and after each command."""

    commands: bool = True
    most_files: int = Field(default=50_000, ge=0)
    largest_file_mb: float = Field(default=10, ge=0)
    keep_days: float = Field(default=30, gt=0)
    keep_mb: float = Field(default=2000, ge=0)


class VerifySection(Section):
    """An empty `command` leaves it to what the person chose for the folder; `enabled` off runs none."""

    enabled: bool = True
    command: str = ""
    max_rounds: int = Field(default=3, ge=0)
    timeout_sec: float = Field(default=300, gt=0, le=600)


class WebsearchSection(Section):
    base_url: str = Field(default="https://api.exa.ai", pattern=r"^https?://[^/\s@]+(/\S*)?$")


class WorkspaceSection(Section):
    extra_roots: tuple[str, ...] = ()


Seconds = Annotated[float, Field(gt=0, le=3600)]
START_SECONDS = 60.0
CALL_SECONDS = 300.0


def _address(url: str) -> str:
    # What a variable stands for is not known here.
    if url and not url.startswith(("http://", "https://", "${")):
        raise ValueError("must begin with http:// or https://")
    return url


class McpServerSection(Section):
    """With neither `command` nor `url` it changes the server of that name, wherever that comes from.

    `${NAME}` in a text stands for a variable of the environment, `${NAME:-x}` for x where that is not set.
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
    """Folders that a confined server may write, below the workspace's where they are relative.

    Not the workspace itself, unless it is named: names that programs outside of the sandbox obey (`.git`,
    `.envrc`) cannot be kept free for as long as a server runs.
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
        """Whether it says by itself where the server is."""
        return bool(self.argv or self.url)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.argv and self.url:
            raise ValueError("has both command and url; a server has one of them")
        if self.args and not self.command:
            raise ValueError("has args and no command")
        if self.argv and self.transport in ("http", "sse"):
            raise ValueError(f"has a command, which is not spoken to by {self.transport}")
        if self.url and self.transport == "stdio":
            raise ValueError("has a url, which is not spoken to by stdio")
        return self


McpTable = dict[str, McpServerSection]


EVERY = ("", "*")
MOST_SECONDS = 600


class HookCommand(Section):
    """`timeout` is in seconds. `sandbox = false` is for the person's own: a project cannot leave it.

    `on_failure` is what becomes of that which a hook stands before and has no word on; without it a call is
    asked about, and all else goes on.
    """

    type: Literal["command"] = "command"
    command: str = Field(min_length=1)
    timeout: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    sandbox: bool = True
    on_failure: Literal["ask", "deny", "allow"] | None = None


class HookGroup(Section):
    """`matcher` is a regular expression over the names of tools; empty or `*` is every one."""

    matcher: str = ""
    hooks: tuple[HookCommand, ...] = ()

    @field_validator("matcher")
    @classmethod
    def _is_expression(cls, matcher: str) -> str:
        if matcher not in EVERY:
            name_pattern(matcher)
        return matcher


class HooksSection(Section):
    """By event, in the names that other programs use for them, too."""

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
            raise ValueError('cannot have on_failure = "ask": only calls can be asked about')
        return groups
