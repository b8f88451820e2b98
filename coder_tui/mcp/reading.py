"""Reads what servers tell, as the protocol writes it, into what the program knows."""

from collections.abc import Mapping
from typing import Any

from coder_tui.mcp.wire import Part, PartKind, PromptArgument, PromptInfo, ResourceInfo, ToolInfo

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
    """One that can be read, or a template for such."""
    template = resource.get("uriTemplate", "")
    return ResourceInfo(
        resource.get("uri", template),
        resource.get("name", ""),
        resource.get("description", ""),
        resource.get("mimeType", ""),
        is_template=bool(template),
    )


def part_of(block: Plain) -> Part:
    """One piece of a result or of a prompt."""
    media_type = block.get("mimeType", "")
    match block.get("type"):
        case "text":
            return Part(PartKind.TEXT, block["text"])
        case "image":
            return Part(PartKind.IMAGE, media_type=media_type, data=block["data"])
        case "audio":
            return Part(PartKind.BINARY, media_type=media_type, data=block["data"])
        case "resource":
            return contents_of(block["resource"])
        case "resource_link":
            words = block.get("description") or block.get("name", "")
            return Part(PartKind.LINK, words, media_type, uri=block["uri"])
        case kind:
            return Part(PartKind.TEXT, f"[a part of the kind {kind}, which is not known here]")


def contents_of(contents: Plain) -> Part:
    """What a resource holds."""
    media_type, uri = contents.get("mimeType", ""), contents["uri"]
    if "text" in contents:
        return Part(PartKind.TEXT, contents["text"], media_type, uri=uri)
    kind = PartKind.IMAGE if media_type.startswith("image/") else PartKind.BINARY
    return Part(kind, "", media_type, contents["blob"], uri)
