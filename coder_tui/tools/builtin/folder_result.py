"""A folder's listing as a tool's result, which `list` and `read` share."""

import asyncio

from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import JsonObject, ToolResult
from coder_tui.workspace.confine import Located
from coder_tui.workspace.listing import Entry, Listing, list_folder

MOST_ENTRIES = 1_000


async def folder_result(located: Located) -> ToolResult:
    listing = await asyncio.to_thread(list_folder, located, MOST_ENTRIES)
    fields: JsonObject = {
        "ok": True,
        "path": located.shown,
        "items": [
            {"name": entry.name, "path": entry.path, "is_dir": entry.is_dir, "size_bytes": entry.size_bytes}
            for entry in listing.entries
        ],
    }
    if listing.truncated:
        fields["truncated"] = True
    return ToolResult(fields, TextBlock(_text(listing)), f"{located.shown}: {_count(listing)}")


def _text(listing: Listing) -> str:
    lines = [_line(entry) for entry in listing.entries]
    return "\n".join([*lines, "…"] if listing.truncated else lines)


def _line(entry: Entry) -> str:
    return f"{entry.name}/" if entry.is_dir else entry.name


def _count(listing: Listing) -> str:
    count = len(listing.entries)
    return f"{count}{'+' if listing.truncated else ''} {'entry' if count == 1 else 'entries'}"
