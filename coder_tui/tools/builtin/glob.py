"""The `glob` tool: find files by a pattern over their paths."""

import stat
from pathlib import PurePosixPath

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
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
from coder_tui.workspace.files.confine import Located, Workspace, folder_or_file
from coder_tui.workspace.search.ignore import PathPattern, PatternError
from coder_tui.workspace.search.search import Scope, Search

MOST_MATCHES = 1_000


class GlobParams(Params):
    pattern: str
    path: str = "."


class GlobTool(Tool[GlobParams]):
    name = "glob"
    kind = ToolKind.SEARCH
    display_name = "Glob"
    params = GlobParams
    permission = "glob"

    def __init__(self, workspace: Workspace, search: Search) -> None:
        self._workspace = workspace
        self._search = search

    def variables(self) -> dict[str, object]:
        return {"directory": self._workspace.root, "max_matches": MOST_MATCHES}

    def summary(self, params: GlobParams) -> str:
        return params.pattern if params.path == "." else f"{params.pattern} in {params.path}"

    async def access(self, params: GlobParams, ctx: ToolContext) -> Access:
        parse_pattern("pattern", params.pattern)
        return declare_reading(self._workspace.locate(params.path))

    async def run(self, params: GlobParams, ctx: ToolContext) -> ToolResult:
        pattern = parse_pattern("pattern", params.pattern)
        located = locate_approved(self._workspace, params.path, ctx)
        if not stat.S_ISDIR(folder_or_file(located).st_mode):
            message = f"{located.shown} is a file, not a folder."
            raise ToolError(ErrorType.EXECUTION_FAILED, message, "Set path to a folder.")
        scope = Scope(located.path)
        found = await self._search.files(scope, pattern.matches, MOST_MATCHES, pattern.endings)
        matches = [shown_below(located, path) for path in found.paths]
        fields: JsonObject = {"ok": True, "matches": matches, "truncated": found.truncated}
        more = "+" if found.truncated else ""
        summary = f"{params.pattern}: {len(matches)}{more} {'file' if len(matches) == 1 else 'files'}"
        return ToolResult(fields, TextBlock("\n".join(matches)), summary)


def parse_pattern(field: str, pattern: str) -> PathPattern:
    """Parse a pattern, which must stay below the searched folder."""
    path = PurePosixPath(pattern)
    reason = ""
    if not pattern.strip() or "\0" in pattern:
        reason = "must not be empty"
    elif path.is_absolute() or pattern.startswith("~"):
        reason = "must be relative; name the folder in path"
    elif ".." in path.parts:
        reason = "must not contain .."
    try:
        parsed = PathPattern.parse(pattern)
    except PatternError as error:
        reason = reason or str(error)
    if reason:
        raise ToolError(ErrorType.INVALID_TOOL_PARAMS, f"invalid args: {field}: {reason}")
    return parsed


def shown_below(located: Located, path: str) -> str:
    return path if located.shown == "." else f"{located.shown.rstrip('/')}/{path}"
