"""The `models` tool: which models could be used here."""

from collections.abc import Mapping, Sequence

from coder_tui.llm.catalog import CatalogEntry, available_models
from coder_tui.llm.routes import LOCAL_SERVERS, LocalServer
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TableBlock
from coder_tui.tools.base import Access, JsonObject, Params, Tool, ToolContext, ToolResult


class ModelsParams(Params):
    pass


class ModelsTool(Tool[ModelsParams]):
    name = "models"
    kind = ToolKind.READ
    display_name = "Models"
    params = ModelsParams
    permission = "models"

    def __init__(self, environ: Mapping[str, str], servers: Sequence[LocalServer] = LOCAL_SERVERS) -> None:
        """`servers` on this machine are asked what they offer."""
        self._environ = environ
        self._servers = servers

    def summary(self, params: ModelsParams) -> str:
        return "what could be used"

    async def access(self, params: ModelsParams, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: ModelsParams, ctx: ToolContext) -> ToolResult:
        entries = await available_models(self._environ, servers=self._servers)
        rows = tuple((entry.id, entry.provider, entry.missing or "available") for entry in entries)
        count = sum(entry.available for entry in entries)
        return ToolResult(
            {"ok": True, "models": [_told(entry) for entry in entries]},
            TableBlock(("Model", "Provider", "State"), rows),
            f"{count} of {len(entries)} available",
        )


def _told(entry: CatalogEntry) -> JsonObject:
    told: JsonObject = {
        "id": entry.id,
        "provider": entry.provider,
        "tags": list(entry.tags),
        "context": entry.context,
    }
    if entry.cost_in is not None:
        told["cost"] = {"input": entry.cost_in, "output": entry.cost_out}
    return {**told, "available": entry.available}
