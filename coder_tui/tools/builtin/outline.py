"""The `outline` tool: list what a file defines, or what a project uses most."""

import stat

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
from coder_tui.tools.builtin.glob import shown_below
from coder_tui.workspace.files.confine import Located, Workspace, folder_or_file
from coder_tui.workspace.files.text import load
from coder_tui.workspace.outline.client import Outliner
from coder_tui.workspace.outline.parse import MAPPED_SUFFIXES
from coder_tui.workspace.search.search import Scope, Search

MOST_FILES = 5_000
MOST_OTHERS = 200
LONGEST_TEXT = 2_000_000


class OutlineParams(PathParams):
    path: str = "."
    depth: int | None = None

    @property
    def levels(self) -> int | None:
        return self.depth if self.depth is not None and self.depth > 0 else None


class OutlineTool(PathReadingTool[OutlineParams]):
    name = "outline"
    display_name = "Outline"
    params = OutlineParams

    def __init__(self, workspace: Workspace, search: Search, outliner: Outliner) -> None:
        super().__init__(workspace)
        self._search = search
        self._outliner = outliner

    async def run(self, params: OutlineParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        is_folder = stat.S_ISDIR(folder_or_file(located).st_mode)
        outline = await (self._outline_folder if is_folder else self._outline_file)(located, params.levels)
        fields: JsonObject = {"ok": True, "path": located.shown, "outline": outline}
        return ToolResult(fields, TextBlock(outline), located.shown)

    async def _outline_file(self, located: Located, depth: int | None) -> str:
        file = await load(located)
        if len(file.text) > LONGEST_TEXT:
            message = f"{located.shown} is too large for an outline."
            raise ToolError(
                ErrorType.TOO_LARGE, message, "Use grep and read_around.", {"path": located.shown}
            )
        return (
            await self._outliner.outline_file(located.path.name, file.shown, depth) or "(no structure found)"
        )

    async def _outline_folder(self, located: Located, depth: int | None) -> str:
        def is_near(path: str) -> bool:
            return depth is None or path.count("/") < depth

        def is_mapped(path: str) -> bool:
            return path.endswith(MAPPED_SUFFIXES) and is_near(path)

        scope = Scope(located.path)
        found = await self._search.files(scope, is_mapped, MOST_FILES, MAPPED_SUFFIXES)
        if not found.paths:
            others = await self._search.files(scope, is_near, MOST_OTHERS)
            shown = [shown_below(located, path) for path in others.paths]
            return "\n".join([*shown, "…"] if others.truncated else shown) or "(no files)"
        outline = await self._outliner.outline_folder(located.path, found.paths, shown_below(located, ""))
        return f"{outline}\n… only the first {MOST_FILES} files were read" if found.truncated else outline
