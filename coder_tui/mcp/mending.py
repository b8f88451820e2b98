"""Takes out of a server's lists what cannot be used, so that one bad entry does not cost all the others."""

from collections.abc import Callable, Mapping
from typing import Any

from coder_tui.mcp.wire import JsonObject

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
MOST_ENTRIES = 2_000
Note = Callable[[str], None]


def mended(result: JsonObject, note: Note) -> JsonObject:
    """The same answer; of a list every entry in its plainest form, and `note` hears what is left out.

    What tools say of their results is dropped: a schema that is none would make the results unreadable.
    """
    for key, mend in _LISTS.items():
        entries = result.get(key)
        if isinstance(entries, list):
            kept = (_entry(entry, mend, note, key) for entry in entries[:MOST_ENTRIES])
            result = {**result, key: [entry for entry in kept if entry is not None]}
            if len(entries) > MOST_ENTRIES:
                note(f"only the first {MOST_ENTRIES} of {len(entries)} {key} are used")
    return result


def _entry(
    entry: object, mend: Callable[[Mapping[str, Any]], JsonObject | str], note: Note, key: str
) -> JsonObject | None:
    made = mend(entry) if isinstance(entry, Mapping) else "it is no object"
    if isinstance(made, str):
        name = str(entry.get("name", "")) if isinstance(entry, Mapping) else ""
        note(f"{key}: {name[:100] or 'one without a name'} is left out: {made}")
        return None
    return made


def _tool(entry: Mapping[str, Any]) -> JsonObject | str:
    schema = entry.get("inputSchema")
    if not _has_name(entry):
        return "it has no name"
    if not isinstance(schema, Mapping):
        return "its schema is none"
    if schema.get("type", "object") != "object" or not isinstance(schema.get("properties", {}), Mapping):
        return "its schema is not that of an object"
    told = entry.get("annotations")
    claims = told if isinstance(told, Mapping) else {}
    return {
        **_texts(entry, "name", "title", "description"),
        "inputSchema": {**schema, "type": "object"},
        "annotations": {hint: claims[hint] for hint in _HINTS if isinstance(claims.get(hint), bool)},
    }


def _prompt(entry: Mapping[str, Any]) -> JsonObject | str:
    if not _has_name(entry):
        return "it has no name"
    given = entry.get("arguments")
    arguments = [item for item in given if isinstance(item, Mapping)] if isinstance(given, list) else []
    return {
        **_texts(entry, "name", "description"),
        "arguments": [
            {**_texts(item, "name", "description"), "required": item.get("required") is True}
            for item in arguments
            if _has_name(item)
        ],
    }


def _resource(entry: Mapping[str, Any]) -> JsonObject | str:
    made = _texts(entry, "uri", "name", "description", "mimeType")
    return {"name": made["uri"], **made} if made.get("uri") else "it has no address"


def _template(entry: Mapping[str, Any]) -> JsonObject | str:
    made = _texts(entry, "uriTemplate", "name", "description", "mimeType")
    return {"name": made["uriTemplate"], **made} if made.get("uriTemplate") else "it has no address"


def _has_name(entry: Mapping[str, Any]) -> bool:
    return isinstance(entry.get("name"), str) and bool(entry["name"])


def _texts(entry: Mapping[str, Any], *keys: str) -> JsonObject:
    return {key: entry[key] for key in keys if isinstance(entry.get(key), str)}


_LISTS: dict[str, Callable[[Mapping[str, Any]], JsonObject | str]] = {
    "tools": _tool,
    "prompts": _prompt,
    "resources": _resource,
    "resourceTemplates": _template,
}
