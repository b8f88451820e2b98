"""The `grep` tool: find lines by a regular expression."""

import os
import stat
from dataclasses import replace

from pydantic import Field

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import (
    Access,
    JsonObject,
    Params,
    Tool,
    ToolContext,
    ToolResult,
    declare_reading,
    locate_approved,
)
from coder_tui.tools.builtin.glob import parse_pattern, shown_below
from coder_tui.workspace.files.confine import Located, Workspace, folder_or_file, open_regular
from coder_tui.workspace.search.records import GrepQuery, LineMatch
from coder_tui.workspace.search.search import Grepped, Scope, Search

DEFAULT_MATCHES = 200
MOST_MATCHES = 2_000
MOST_CONTEXT = 20


class GrepParams(Params):
    pattern: str = Field(min_length=1)
    path: str = "."
    glob: str | None = None
    max_matches: int = DEFAULT_MATCHES
    context: int = 0
    ignore_case: bool = False


class GrepTool(Tool[GrepParams]):
    name = "grep"
    kind = ToolKind.SEARCH
    display_name = "Grep"
    params = GrepParams
    permission = "read"

    def __init__(self, workspace: Workspace, search: Search) -> None:
        self._workspace = workspace
        self._search = search

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root, "default_matches": DEFAULT_MATCHES}

    def summary(self, params: GrepParams) -> str:
        return params.pattern if params.path == "." else f"{params.pattern} in {params.path}"

    async def access(self, params: GrepParams, ctx: ToolContext) -> Access:
        _query(params, filtered=True)
        return declare_reading(self._workspace.locate(params.path))

    async def run(self, params: GrepParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        is_folder = stat.S_ISDIR(folder_or_file(located).st_mode)
        if not is_folder:
            # The search skips unreadable files, so "nothing found" would be a wrong answer here.
            os.close(open_regular(located))
        scope = Scope(located.path) if is_folder else Scope(located.path.parent, located.path.name)
        grepped = await self._search.grep(scope, _query(params, filtered=is_folder))
        return _result(params, located, grepped, is_folder=is_folder)


def _query(params: GrepParams, *, filtered: bool) -> GrepQuery:
    most = params.max_matches if params.max_matches > 0 else DEFAULT_MATCHES
    query = GrepQuery(
        params.pattern,
        min(most, MOST_MATCHES),
        context=min(max(params.context, 0), MOST_CONTEXT),
        ignore_case=params.ignore_case,
    )
    return _with_glob(query, params.glob) if filtered and params.glob else query


def _with_glob(query: GrepQuery, glob: str) -> GrepQuery:
    """Search only files that match `glob`, or with `!` in front only those that do not."""
    pattern = parse_pattern("glob", glob.removeprefix("!"))
    if glob.startswith("!"):
        return replace(query, accepts=lambda path: not pattern.matches(path))
    return replace(query, accepts=pattern.matches, endings=pattern.endings)


def _result(params: GrepParams, located: Located, grepped: Grepped, *, is_folder: bool) -> ToolResult:
    matches = [
        _fields(match, shown_below(located, match.path) if is_folder else located.shown, params.context)
        for match in grepped.matches
    ]
    fields: JsonObject = {
        "ok": True,
        "count": len(matches),
        "matches": matches,
        "truncated": grepped.truncated,
    }
    lines = [f"{match['path']}:{match['line']}: {match['text']}" for match in matches]
    more = "+" if grepped.truncated else ""
    files = len({match["path"] for match in matches})
    summary = (
        f"{params.pattern}: {len(matches)}{more} {'match' if len(matches) == 1 else 'matches'} "
        f"in {files} {'file' if files == 1 else 'files'}"
    )
    return ToolResult(fields, TextBlock("\n".join(lines)), summary)


def _fields(match: LineMatch, path: str, context: int) -> JsonObject:
    fields: JsonObject = {"path": path, "line": match.line, "column": match.column, "text": match.text}
    if context > 0:
        fields |= {"before": list(match.before), "after": list(match.after)}
    return fields
