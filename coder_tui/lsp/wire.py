"""The messages between the program and the language server host; all positions count from 0."""

from dataclasses import dataclass, field, fields
from enum import StrEnum

from coder_tui.protocol.diagnostics import ServerStatus, Severity
from coder_tui.shell.hosts.link import JsonObject

LARGEST_TEXT = 2_000_000
"""The most characters, or bytes on disk, of a file that servers are asked about."""


class Question(StrEnum):
    """A question about a place, by its protocol name."""

    DEFINITION = "textDocument/definition"
    REFERENCES = "textDocument/references"
    HOVER = "textDocument/hover"
    SYMBOLS = "textDocument/documentSymbol"
    WORKSPACE_SYMBOLS = "workspace/symbol"


@dataclass(frozen=True, slots=True)
class ServerOrder:
    """How to start one server. `lacks` says which required checker is missing."""

    key: str
    name: str
    argv: tuple[str, ...]
    root: str
    environment: dict[str, str]
    settings: JsonObject = field(default_factory=dict)
    initialization: JsonObject | None = None
    network: bool = False
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a server; characters are code points."""

    line: int
    character: int
    end_line: int
    end_character: int
    severity: Severity
    message: str
    code: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """One server's report on one text. `items` is bounded, `total` counts all."""

    status: ServerStatus
    items: tuple[Finding, ...] = ()
    total: int = 0
    detail: str = ""


_FINDING_FIELDS = tuple(field.name for field in fields(Finding))


def flat(checked: Checked) -> JsonObject:
    """Do what `asdict` does, which deep-copies and takes as long as some servers need to answer."""
    items = [{name: getattr(item, name) for name in _FINDING_FIELDS} for item in checked.items]
    return {"status": checked.status, "items": items, "total": checked.total, "detail": checked.detail}


@dataclass(frozen=True, slots=True)
class Place:
    """A range in a file; `text` is its first line's text."""

    uri: str
    line: int
    character: int
    end_line: int
    end_character: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str
    kind: str
    place: Place
    container: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """A server's answer about a place; `is_able` is False if the server has no such feature."""

    status: ServerStatus
    is_able: bool = True
    places: tuple[Place, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    contents: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A server's current findings in a file on disk."""

    key: str
    path: str
    items: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A server's new state: starting, fresh (it works) or crashed; `pid` while it runs."""

    key: str
    status: ServerStatus
    detail: str = ""
    pid: int = 0


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server's state now; `said` is the last line of its error output."""

    key: str
    status: ServerStatus
    detail: str = ""
    pid: int = 0
    said: str = ""
