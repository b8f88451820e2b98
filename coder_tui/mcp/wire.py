"""What goes between the program and the process that speaks to MCP servers."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

JsonObject = dict[str, Any]


class ServerState(StrEnum):
    """As people read it."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    NEEDS_LOGIN = "needs login"
    OFF = "off"


class Transport(StrEnum):
    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


@dataclass(frozen=True, slots=True)
class ServerOrder:
    """How one server is reached, all variables filled in; `roots` are the workspace's folders."""

    name: str
    transport: Transport
    argv: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    directory: str = ""
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    start_seconds: float = 60.0
    is_confined: bool = True
    network: bool = True
    roots: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    tokens: str = ""
    """The file in which a login is kept; none is tried where there is no such name."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """As the server tells it, nothing of it checked; `claims` is what it says of its own harmlessness."""

    name: str
    description: str
    schema: Any
    title: str = ""
    claims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str = ""
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class PromptInfo:
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceInfo:
    """`uri` has places in braces where it `is_template`."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""
    is_template: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """All that a server has."""

    tools: tuple[ToolInfo, ...] = ()
    prompts: tuple[PromptInfo, ...] = ()
    resources: tuple[ResourceInfo, ...] = ()
    label: str = ""
    """Its own name and version."""
    protocol: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateTold:
    """How a server is doing now; `pid` while a process of ours runs, `link` where a person must log in."""

    name: str
    state: ServerState
    detail: str = ""
    pid: int = 0
    offer: Offer = field(default_factory=Offer)
    link: str = ""


class PartKind(StrEnum):
    TEXT = "text"
    IMAGE = "image"
    BINARY = "binary"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of what a server sent; `data` is base64."""

    kind: PartKind
    text: str = ""
    media_type: str = ""
    data: str = ""
    uri: str = ""


class Failure(StrEnum):
    """Why there is no answer."""

    TIMEOUT = "timeout"
    GONE = "gone"
    REFUSED = "refused"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Answer:
    """`failure` is none where the server answered, be it with an error of its own (`is_error`)."""

    parts: tuple[Part, ...] = ()
    structured: Any = None
    is_error: bool = False
    failure: Failure | None = None
    detail: str = ""
