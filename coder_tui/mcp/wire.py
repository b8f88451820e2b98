"""The messages between the program and the MCP host."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class ServerState(StrEnum):
    """A server's state, in words for the user."""

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
    """How to reach one server, with all variables filled in; `roots` are the workspace's folders."""

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
    """The file that keeps a login; if empty, no login is tried."""


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """A tool as the server describes it, unchecked; `claims` is what the server says about its safety."""

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
    """With `is_template`, `uri` has placeholders in braces."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""
    is_template: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """Everything that a server offers."""

    tools: tuple[ToolInfo, ...] = ()
    prompts: tuple[PromptInfo, ...] = ()
    resources: tuple[ResourceInfo, ...] = ()
    label: str = ""
    """Its own name and version."""
    protocol: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A server's new state; `pid` while our process runs, `link` if the user must log in there."""

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
    """One part of an answer; `data` is base64."""

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
    """`failure` is None if the server answered, even if with its own error (`is_error`)."""

    parts: tuple[Part, ...] = ()
    structured: Any = None
    is_error: bool = False
    failure: Failure | None = None
    detail: str = ""
