"""The `lsp_references` tool: where what stands at a place is used."""

from coder_tui.lsp.wire import Answered, Question
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import JsonObject, ToolResult
from coder_tui.tools.builtin.lsp_answers import place_json, places_text
from coder_tui.tools.builtin.lsp_place_tool import LspPlaceTool


class LspReferencesTool(LspPlaceTool):
    name = "lsp_references"
    display_name = "References"
    question = Question.REFERENCES
    fallback = "grep the symbol"

    def is_answered(self, answer: Answered) -> bool:
        return answer.status is ServerStatus.FRESH

    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        locations = [place_json(found, self.workspace) for found in answer.places]
        count = len(locations)
        fields: JsonObject = {"ok": True, "locations": locations, "count": count, **told}
        summary = f"{place}: {count} place{'' if count == 1 else 's'}"
        return ToolResult(fields, TextBlock(places_text(answer.places, self.workspace)), summary)
