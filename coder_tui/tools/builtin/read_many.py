"""The `read_many` tool: read the first page of several files in one call."""

import os
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult, locate_approved
from coder_tui.tools.builtin.glob import parse_pattern
from coder_tui.tools.builtin.read import DEFAULT_LIMIT, MOST_LINES, page_length
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.paging import Page, read_page
from coder_tui.workspace.files.text import ReadLedger
from coder_tui.workspace.search.search import Scope, Search

MOST_FILES = 100
TOTAL_BYTES = 40 * 1024
_MAGIC = frozenset("*?[{")
_TOO_MANY = f"more than {MOST_FILES} files in one call"
_NO_ROOM = "no room left in this result"


class ReadManyParams(Params):
    paths: Annotated[list[str], Field(min_length=1, max_length=MOST_FILES)]
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class _Selection:
    """The files that the paths and patterns name, each once and in order, and what is left out."""

    paths: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Collected:
    """The result as it grows, within the size of one result."""

    skipped: list[dict[str, str]]
    files: list[JsonObject] = field(default_factory=list)
    room: int = TOTAL_BYTES

    def add(self, located: Located, page: Page) -> None:
        """Add a page, or as many of its lines as fit."""
        taken: list[str] = []
        for line in page.lines:
            self.room -= len(line.encode()) + 1
            if self.room < 0:
                break
            taken.append(line)
        if page.lines and not taken:
            self.skip(located.shown)
            return
        has_more = page.has_more or len(taken) < len(page.lines)
        self.files.append({"path": located.shown, "content": "\n".join(taken), "has_more": has_more})

    def skip(self, path: str) -> None:
        self.skipped.append({"path": path, "reason": _NO_ROOM})


class ReadManyTool(Tool[ReadManyParams]):
    name = "read_many"
    kind = ToolKind.READ
    display_name = "Read many"
    params = ReadManyParams
    permission = "read"

    def __init__(self, workspace: Workspace, ledger: ReadLedger, search: Search) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._search = search

    def variables(self) -> dict[str, object]:
        return {
            "directory": self._workspace.root,
            "default_limit": DEFAULT_LIMIT,
            "max_lines": MOST_LINES,
            "max_files": MOST_FILES,
            "max_kb": TOTAL_BYTES // 1024,
        }

    def summary(self, params: ReadManyParams) -> str:
        more = f" and {len(params.paths) - 3} more" if len(params.paths) > 3 else ""
        return ", ".join(params.paths[:3]) + more

    async def access(self, params: ReadManyParams, ctx: ToolContext) -> Access:
        """Declare every file separately, so that secrets and outside paths among them are asked for."""
        selection = await self._select(params)
        located = [self._workspace.locate(path) for path in selection.paths]
        targets = dict.fromkeys(Target(TargetKind.PATH, str(place.path)) for place in located)
        preview = TextBlock("\n".join(place.shown for place in located))
        return Access(tuple(targets), preview=preview)

    async def run(self, params: ReadManyParams, ctx: ToolContext) -> ToolResult:
        selection = await self._select(params)
        collected = _Collected([{"path": path, "reason": reason} for path, reason in selection.skipped])
        for path in selection.paths:
            if collected.room <= 0:
                collected.skip(path)
                continue
            try:
                located = locate_approved(self._workspace, path, ctx)
                page = await read_page(located, 1, page_length(params.limit))
            except ToolError as error:
                collected.files.append({"path": path, "error": _error(error)})
                continue
            collected.add(located, page)
            if page.digest is not None:
                self._ledger.note(located.path, page.digest)
        return _result(collected)

    async def _select(self, params: ReadManyParams) -> _Selection:
        """Return named files first, then what the patterns match, all found in one search."""
        patterns = {path: parse_pattern("paths", path) for path in params.paths if self._is_pattern(path)}
        paths = dict.fromkeys(path for path in params.paths if path not in patterns)
        if not patterns:
            return _Selection(tuple(paths), ())
        found = await self._search.files(
            Scope(self._workspace.root),
            lambda path: any(pattern.matches(path) for pattern in patterns.values()),
            MOST_FILES,
        )
        unmatched = [path for path, pattern in patterns.items() if not any(map(pattern.matches, found.paths))]
        chosen = tuple(dict.fromkeys((*paths, *found.paths)))
        reason = _TOO_MANY if found.truncated else "no file matches"
        skipped = [(path, reason) for path in unmatched]
        if found.truncated and not unmatched:
            skipped.append((", ".join(patterns), _TOO_MANY))
        skipped += [(path, _TOO_MANY) for path in chosen[MOST_FILES:]]
        return _Selection(chosen[:MOST_FILES], tuple(skipped))

    def _is_pattern(self, path: str) -> bool:
        """A file name may contain such characters. This is not checked outside the workspace."""
        if _MAGIC.isdisjoint(path):
            return False
        located = self._workspace.locate(path)
        return not (located.is_inside and os.path.lexists(located.path))


def _error(error: ToolError) -> JsonObject:
    fields: JsonObject = {"type": str(error.type), "message": error.message}
    return {**fields, "hint": error.hint} if error.hint else fields


def _result(collected: _Collected) -> ToolResult:
    files, skipped = collected.files, collected.skipped
    read = [file for file in files if "content" in file]
    fields: JsonObject = {"files": files, "skipped": skipped}
    if not read:
        kinds = {file["error"]["type"] for file in files}
        kind = ErrorType(kinds.pop()) if len(kinds) == 1 else ErrorType.FILE_NOT_FOUND
        raise ToolError(kind, "None of the files could be read.", "Find them with glob or list.", fields)
    shown = "\n\n".join(f"── {file['path']}\n{file['content']}" for file in read)
    failed = f", {len(files) - len(read)} failed" if len(files) > len(read) else ""
    left = f", {len(skipped)} left out" if skipped else ""
    count = f"{len(read)} {'file' if len(read) == 1 else 'files'}"
    return ToolResult({"ok": True, **fields}, TextBlock(shown), f"{count}{failed}{left}")
