"""Reads a language server's answers, in all forms that the protocol allows."""

from collections.abc import Iterator
from typing import Any

from coder_tui.lsp.server_session import RefusedError
from coder_tui.lsp.wire import Finding, Place, Symbol
from coder_tui.protocol.diagnostics import Severity
from coder_tui.shell.hosts.link import JsonObject

_SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFORMATION, Severity.HINT)
_KINDS = (
    *(
        "file",
        "module",
        "namespace",
        "package",
        "class",
        "method",
        "property",
        "field",
        "constructor",
        "enum",
    ),
    *("interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object"),
    *("key", "null", "enum_member", "struct", "event", "operator", "type_parameter"),
)
# Longer texts are cut off: nobody reads them, and hundreds must fit into one line to the program.
LONGEST_TEXT, LONGEST_NAME, LONGEST_ADDRESS, LONGEST_PAGE = 4_000, 1_000, 16_000, 100_000


def findings(items: Any) -> tuple[Finding, ...]:
    """Read findings, in the server's own units; raise `RefusedError` if they do not follow the protocol."""
    try:
        return tuple(_finding(item) for item in items or ())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise RefusedError(0, f"its findings cannot be read: {error!r}") from error


def _finding(item: JsonObject) -> Finding:
    start, end = item["range"]["start"], item["range"]["end"]
    code = item.get("code")
    return Finding(
        line=int(start["line"]),
        character=int(start["character"]),
        end_line=int(end["line"]),
        end_character=int(end["character"]),
        # Without a severity it counts as an error; as a hint it would be lost.
        severity=_SEVERITIES[(item.get("severity") or 1) - 1],
        message=_text(item["message"])[:LONGEST_TEXT],
        code="" if code is None else str(code)[:LONGEST_NAME],
        source=str(item.get("source") or "")[:LONGEST_NAME],
    )


def _text(message: Any) -> str:
    return str(message["value"]) if isinstance(message, dict) else str(message)


def places(result: Any) -> tuple[Place, ...]:
    """Read places from `Location`, `Location[]` or `LocationLink[]`."""
    items = result if isinstance(result, list) else [result] if result else []
    return tuple(_place(item) for item in items)


def _place(item: JsonObject) -> Place:
    if "targetUri" in item:
        return _range(item["targetUri"], item["targetSelectionRange"])
    # A workspace symbol may name only its file.
    return _range(item["uri"], item.get("range") or _NOWHERE)


_NOWHERE: JsonObject = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}


def _range(uri: str, place: JsonObject) -> Place:
    start, end = place["start"], place["end"]
    return Place(uri[:LONGEST_ADDRESS], start["line"], start["character"], end["line"], end["character"])


def contents(result: Any) -> str:
    """Read hover contents from `MarkupContent`, `MarkedString` or `MarkedString[]`."""
    if not result:
        return ""
    given = result["contents"]
    parts = given if isinstance(given, list) else [given]
    return "\n\n".join(text for part in parts if (text := _marked(part).strip()))[:LONGEST_PAGE]


def _marked(part: Any) -> str:
    if isinstance(part, str):
        return part
    if "language" in part:
        return f"```{part['language']}\n{part['value']}\n```"
    return str(part["value"])


def symbols(result: Any, uri: str) -> tuple[Symbol, ...]:
    """Read symbols from `DocumentSymbol[]` (flattened), `SymbolInformation[]` or `WorkspaceSymbol[]`."""
    return tuple(symbol for item in result or () for symbol in _symbols(item, uri, ""))


def _symbols(item: JsonObject, uri: str, container: str) -> Iterator[Symbol]:
    kind = _KINDS[item["kind"] - 1] if 1 <= item["kind"] <= len(_KINDS) else "unknown"
    name = item["name"][:LONGEST_NAME]
    if "location" in item:
        within = (item.get("containerName") or "")[:LONGEST_NAME]
        yield Symbol(name, kind, _place(item["location"]), within)
        return
    yield Symbol(name, kind, _range(uri, item["selectionRange"]), container)
    path = f"{container}.{name}"[:LONGEST_NAME] if container else name
    for child in item.get("children") or ():
        yield from _symbols(child, uri, path)
