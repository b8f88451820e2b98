"""What goes between the program and the process that speaks to language servers; all positions from 0."""

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from coder_tui.protocol.diagnostics import ServerStatus, Severity

JsonObject = dict[str, Any]
LARGEST_TEXT = 2_000_000
"""Characters, or bytes on disk, of a file that servers are asked about."""


class Question(StrEnum):
    """What a server is asked about a place, as the protocol calls it."""

    DEFINITION = "textDocument/definition"
    REFERENCES = "textDocument/references"
    HOVER = "textDocument/hover"
    SYMBOLS = "textDocument/documentSymbol"
    WORKSPACE_SYMBOLS = "workspace/symbol"


@dataclass(frozen=True, slots=True)
class ServerOrder:
    """How one server is started. `lacks` says which checker it needs and has not got."""

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
class Found:
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
    """What one server says of one text. `total` counts what `items`, which are bounded, leave out."""

    status: ServerStatus
    items: tuple[Found, ...] = ()
    total: int = 0
    detail: str = ""


_FOUND = tuple(field.name for field in fields(Found))


def flat(checked: Checked) -> JsonObject:
    """As `asdict`, which copies all there is and takes as long as some servers think."""
    items = [{name: getattr(item, name) for name in _FOUND} for item in checked.items]
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
    """A server's answer about a place; `is_able` is False where the server has no such feature."""

    status: ServerStatus
    is_able: bool = True
    places: tuple[Place, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    contents: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A server's findings of a file as it is on disk, now."""

    key: str
    path: str
    items: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class StateTold:
    """How a server is doing: starting, fresh (it works), crashed; `pid` while it runs."""

    key: str
    status: ServerStatus
    detail: str = ""
    pid: int = 0


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server as it is now; `said` is the last line that it wrote to its error output."""

    key: str
    status: ServerStatus
    detail: str = ""
    pid: int = 0
    said: str = ""
