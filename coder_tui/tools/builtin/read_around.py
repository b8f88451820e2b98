"""The `read_around` tool: read the lines around each occurrence of a text."""

import re

from pydantic import Field, field_validator

from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import (
    JsonObject,
    PathParams,
    PathReadingTool,
    ToolContext,
    ToolResult,
    locate_approved,
)
from coder_tui.workspace.files.confine import Located, Workspace
from coder_tui.workspace.files.paging import LONGEST_LINE, PAGE_BYTES, check_text
from coder_tui.workspace.search.records import GrepQuery, LineMatch
from coder_tui.workspace.search.search import Grepped, Scope, Search

DEFAULT_CONTEXT = 20
MOST_CONTEXT = 100
DEFAULT_HITS = 5
MOST_HITS = 50
_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")


class ReadAroundParams(PathParams):
    keyword: str = Field(min_length=1)
    context: int = DEFAULT_CONTEXT
    max_hits: int = DEFAULT_HITS

    @field_validator("keyword")
    @classmethod
    def _is_one_line(cls, keyword: str) -> str:
        if "\n" in keyword or "\r" in keyword or "\0" in keyword:
            raise ValueError("must be text within one line")
        return keyword

    @property
    def around(self) -> int:
        return min(max(self.context, 0), MOST_CONTEXT)

    @property
    def most(self) -> int:
        return min(self.max_hits if self.max_hits > 0 else DEFAULT_HITS, MOST_HITS)


class ReadAroundTool(PathReadingTool[ReadAroundParams]):
    """Uses the search program, which handles files of any size and can be stopped."""

    name = "read_around"
    display_name = "Read around"
    params = ReadAroundParams

    def __init__(self, workspace: Workspace, search: Search) -> None:
        super().__init__(workspace)
        self._search = search

    def variables(self) -> dict[str, object]:
        return {"context": DEFAULT_CONTEXT, "max_hits": DEFAULT_HITS}

    def summary(self, params: ReadAroundParams) -> str:
        return f"{params.keyword} in {params.path}"

    async def run(self, params: ReadAroundParams, ctx: ToolContext) -> ToolResult:
        located = locate_approved(self._workspace, params.path, ctx)
        await check_text(located)
        found = await self._find(params, located, ignore_case=False)
        if not found.matches:
            found = await self._find(params, located, ignore_case=True)
        return _result(params, located, found)

    async def _find(self, params: ReadAroundParams, located: Located, *, ignore_case: bool) -> Grepped:
        query = GrepQuery(
            _SPECIAL.sub(r"\\\1", params.keyword),
            params.most,
            context=params.around,
            ignore_case=ignore_case,
            longest=LONGEST_LINE,
        )
        return await self._search.grep(Scope(located.path.parent, located.path.name), query)


def _result(params: ReadAroundParams, located: Located, found: Grepped) -> ToolResult:
    hits: list[JsonObject] = []
    room = PAGE_BYTES
    for match in found.matches:
        hit = _hit(match)
        room -= len(hit["content"].encode())
        if room < 0 and hits:
            break
        hits.append(hit)
    fields: JsonObject = {"ok": True, "path": located.shown, "hits": hits}
    is_cut = found.truncated or len(hits) < len(found.matches)
    if is_cut:
        fields["truncated"] = True
    shown = "\n⋯\n".join(hit["content"] for hit in hits)
    count = f"{len(hits)}{'+' if is_cut else ''} {'hit' if len(hits) == 1 else 'hits'}"
    return ToolResult(fields, TextBlock(shown), f"{params.keyword} in {located.shown}: {count}")


def _hit(match: LineMatch) -> JsonObject:
    lines = (*match.before, match.text, *match.after)
    return {
        "line": match.line,
        "start_line": match.line - len(match.before),
        "end_line": match.line + len(match.after),
        "content": "\n".join(lines),
    }
