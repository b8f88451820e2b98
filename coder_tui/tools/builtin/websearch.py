"""The `websearch` tool: find titles, addresses and snippets through a search service."""

from pydantic import Field, field_validator

from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.web.web import Hit, SearchService

DEFAULT_RESULTS = 8
MOST_RESULTS = 25


class WebsearchParams(Params):
    query: str = Field(max_length=2_000)
    max_results: int | None = None

    @field_validator("query")
    @classmethod
    def _is_not_empty(cls, query: str) -> str:
        if not query.strip() or "\0" in query:
            raise ValueError("must be words to search for")
        return query.strip()

    @property
    def count(self) -> int:
        asked = self.max_results if self.max_results and self.max_results > 0 else DEFAULT_RESULTS
        return min(asked, MOST_RESULTS)


class WebsearchTool(Tool[WebsearchParams]):
    name = "websearch"
    kind = ToolKind.SEARCH
    display_name = "Web search"
    params = WebsearchParams
    permission = "fetch"
    editable = "query"

    def __init__(self, service: SearchService) -> None:
        self._service = service

    def variables(self) -> dict[str, object]:
        return {"default_results": DEFAULT_RESULTS, "max_results": MOST_RESULTS}

    def summary(self, params: WebsearchParams) -> str:
        return params.query

    async def access(self, params: WebsearchParams, ctx: ToolContext) -> Access:
        if not self._service.has_key:
            raise ToolError(
                ErrorType.PERMISSION_DENIED,
                "The search service needs a key, but none is set.",
                "The user can set the variable EXA_API_KEY. Until then, fetch known addresses.",
            )
        address = self._service.address
        return Access(
            (Target(TargetKind.ADDRESS, address.url),),
            preview=TextBlock(f"{params.count} results for: {params.query}"),
            facts=(f"the query goes to {address.host}",),
        )

    async def run(self, params: WebsearchParams, ctx: ToolContext) -> ToolResult:
        hits = await self._service.search(params.query, params.count, ctx.progress)
        results = [_fields(hit) for hit in hits]
        shown = "\n".join(f"{hit.title or hit.url}\n  {hit.url}" for hit in hits) or "nothing found"
        count = "1 result" if len(hits) == 1 else f"{len(hits)} results"
        return ToolResult(
            {"ok": True, "results": results}, TextBlock(shown), summary=f"{params.query} ({count})"
        )


def _fields(hit: Hit) -> JsonObject:
    fields = {"title": hit.title, "url": hit.url, "snippet": hit.text}
    if hit.published:
        fields["published"] = hit.published
    return fields
