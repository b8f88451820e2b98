"""Reads what servers send: limits its size, drops invalid list entries, converts it to our records.

Everything must fit into one line to the program, and one bad entry must not cost all the others.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from coder_tui.mcp.wire import Part, PartKind, PromptArgument, PromptInfo, ResourceInfo, ToolInfo
from coder_tui.shell.hosts.link import JsonObject

LARGEST = 12_000_000
"""The most characters of all texts together, and of all pictures together."""
LARGEST_STRUCTURED = 1_000_000
MOST_PARTS = 1_000
MOST_ENTRIES = 1_000
"""The most entries of one list, over all pages."""
LARGEST_LIST = 4_000_000
"""The most characters of all entries together."""
_CUT = "\n[cut off: the server sent more than {limit} characters]"

Entry = TypeVar("Entry")


def limit_entries(entries: Iterable[Entry], kind: str, note: Callable[[str], None]) -> Iterator[Entry]:
    """Yield the first entries of a list: all must fit into one line to the program, which servers share."""
    left = LARGEST_LIST
    for place, entry in enumerate(entries):
        left -= len(repr(entry))
        if place == MOST_ENTRIES or left < 0:
            note(f"only the first {place} {kind} are used: the list is too long")
            return
        yield entry


def limit_parts(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(_limit_parts(parts))


def _limit_parts(parts: tuple[Part, ...]) -> Iterator[Part]:
    texts = data = LARGEST
    for part in parts[:MOST_PARTS]:
        if len(part.text) > texts:
            part = replace(part, text=part.text[:texts] + _CUT.format(limit=LARGEST))
        if len(part.data) > data:
            words = f"[left out: {part.media_type or 'data'} of {len(part.data) * 3 // 4} bytes]"
            part = Part(PartKind.TEXT, words, uri=part.uri)
        texts, data = max(0, texts - len(part.text)), max(0, data - len(part.data))
        yield part
    if len(parts) > MOST_PARTS:
        yield Part(PartKind.TEXT, f"[left out: {len(parts) - MOST_PARTS} more parts]")


def limit_structured(structured: Any) -> Any:
    """Leave out structured data that is too large: it cannot be cut, and the text says the same."""
    if structured is None or (size := len(json.dumps(structured))) <= LARGEST_STRUCTURED:
        return structured
    return {"left_out": f"structured data of {size} characters"}


_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
MOST_ANSWER_ENTRIES = 2_000
Note = Callable[[str], None]


def drop_invalid(result: JsonObject, note: Note) -> JsonObject:
    """Reduce list entries to the fields we use and drop invalid ones; `note` gets what was dropped.

    Output schemas are dropped as well: an invalid one would make a tool's results unreadable.
    """
    for key, simplify in _LISTS.items():
        entries = result.get(key)
        if isinstance(entries, list):
            kept = (_entry(entry, simplify, note, key) for entry in entries[:MOST_ANSWER_ENTRIES])
            result = {**result, key: [entry for entry in kept if entry is not None]}
            if len(entries) > MOST_ANSWER_ENTRIES:
                note(f"only the first {MOST_ANSWER_ENTRIES} of {len(entries)} {key} are used")
    return result


def _entry(
    entry: object, simplify: Callable[[Mapping[str, Any]], JsonObject | str], note: Note, key: str
) -> JsonObject | None:
    made = simplify(entry) if isinstance(entry, Mapping) else "it is not an object"
    if isinstance(made, str):
        name = str(entry.get("name", "")) if isinstance(entry, Mapping) else ""
        note(f"{key}: {name[:100] or 'an entry without a name'} was left out: {made}")
        return None
    return made


def _tool(entry: Mapping[str, Any]) -> JsonObject | str:
    schema = entry.get("inputSchema")
    if not _has_name(entry):
        return "it has no name"
    if not isinstance(schema, Mapping):
        return "it has no input schema"
    if schema.get("type", "object") != "object" or not isinstance(schema.get("properties", {}), Mapping):
        return "its input schema does not describe an object"
    annotations = entry.get("annotations")
    claims = annotations if isinstance(annotations, Mapping) else {}
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


Plain = Mapping[str, Any]
_CLAIMS = {
    "readOnlyHint": ("only reads", "changes things"),
    "destructiveHint": ("may destroy", "destroys nothing"),
    "openWorldHint": ("reaches outside", "stays inside"),
}


def tool_info(tool: Plain) -> ToolInfo:
    hints = tool.get("annotations", {})
    claims = (yes if hints[hint] else no for hint, (yes, no) in _CLAIMS.items() if hint in hints)
    description, title = tool.get("description", ""), tool.get("title", "")
    return ToolInfo(tool["name"], description, tool["inputSchema"], title, tuple(claims))


def prompt_info(prompt: Plain) -> PromptInfo:
    arguments = (
        PromptArgument(each["name"], each.get("description", ""), bool(each.get("required")))
        for each in prompt.get("arguments", ())
    )
    return PromptInfo(prompt["name"], prompt.get("description", ""), tuple(arguments))


def resource_info(resource: Plain) -> ResourceInfo:
    """Read a resource or a resource template."""
    template = resource.get("uriTemplate", "")
    return ResourceInfo(
        resource.get("uri", template),
        resource.get("name", ""),
        resource.get("description", ""),
        resource.get("mimeType", ""),
        is_template=bool(template),
    )


def read_part(block: Plain) -> Part:
    """Read one content block of a result or a prompt."""
    media_type = block.get("mimeType", "")
    match block.get("type"):
        case "text":
            return Part(PartKind.TEXT, block["text"])
        case "image":
            return Part(PartKind.IMAGE, media_type=media_type, data=block["data"])
        case "audio":
            return Part(PartKind.BINARY, media_type=media_type, data=block["data"])
        case "resource":
            return read_contents(block["resource"])
        case "resource_link":
            words = block.get("description") or block.get("name", "")
            return Part(PartKind.LINK, words, media_type, uri=block["uri"])
        case kind:
            return Part(PartKind.TEXT, f"[unsupported content of type {kind}]")


def read_contents(contents: Plain) -> Part:
    """Read the contents of a resource."""
    media_type, uri = contents.get("mimeType", ""), contents["uri"]
    if "text" in contents:
        return Part(PartKind.TEXT, contents["text"], media_type, uri=uri)
    kind = PartKind.IMAGE if media_type.startswith("image/") else PartKind.BINARY
    return Part(kind, "", media_type, contents["blob"], uri)
