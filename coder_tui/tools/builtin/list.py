"""The `list` tool: list one folder as a user who works there would want it. `read` shares its result."""

import asyncio
import os
import stat
from dataclasses import dataclass

from coder_tui.policy.paths import is_secret
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import (
    JsonObject,
    PathParams,
    PathReadingTool,
    ToolContext,
    ToolResult,
    locate_approved,
)
from coder_tui.workspace.files.confine import Located, explain, folder_or_file, open_listing
from coder_tui.workspace.search.ignore import IgnoreChain


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    path: str
    is_dir: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Listing:
    entries: tuple[Entry, ...]
    truncated: bool


def list_folder(located: Located, most: int) -> Listing:
    """List a folder by name, without `.git`, secrets and what git ignores."""
    folder = open_listing(located)
    try:
        with os.scandir(folder) as scanned:
            found = sorted(scanned, key=lambda entry: os.fsencode(entry.name))
        chain = IgnoreChain.for_folder(located.path)
        kept = [entry for entry in found if _may_show(located, entry, chain)]
        return Listing(tuple(_entry(located, entry) for entry in kept[:most]), len(kept) > most)
    except OSError as error:
        raise explain(error, located) from error
    finally:
        os.close(folder)


def _may_show(located: Located, entry: "os.DirEntry[str]", chain: IgnoreChain) -> bool:
    if entry.name == ".git" or chain.ignores(entry.name, is_folder=entry.is_dir(follow_symlinks=False)):
        return False
    return not is_secret(located.path / entry.name)


def _entry(located: Located, entry: "os.DirEntry[str]") -> Entry:
    name = os.fsencode(entry.name).decode("utf-8", "replace")
    is_dir = _is_folder(entry)
    shown = name if located.shown == "." else f"{located.shown.rstrip('/')}/{name}"
    return Entry(name, shown, is_dir, 0 if is_dir else _size(entry))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A circular link, or one to an unreadable place.
        return False


def _size(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        # Removed since the folder was scanned.
        return 0


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


class ListParams(PathParams):
    path: str = "."


class ListTool(PathReadingTool[ListParams]):
    name = "list"
    display_name = "List"
    params = ListParams
    permission = "list"

    def variables(self) -> dict[str, object]:
        return super().variables() | {"max_entries": MOST_ENTRIES}

    async def run(self, params: ListParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        if not stat.S_ISDIR(folder_or_file(located).st_mode):
            message = f"{located.shown} is a file, not a folder."
            raise ToolError(ErrorType.EXECUTION_FAILED, message, "Use read.", {"path": located.shown})
        return await folder_result(located)
