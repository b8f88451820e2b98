"""The `lsp_definition` tool: where what stands at a place is defined."""

from coder_tui.lsp.wire import Answered, Question
from coder_tui.protocol.display import TextBlock
from coder_tui.tools.base import JsonObject, ToolResult
from coder_tui.tools.builtin.lsp_answers import place_json, places_text
from coder_tui.tools.builtin.lsp_place_tool import LspPlaceTool


class LspDefinitionTool(LspPlaceTool):
    name = "lsp_definition"
    display_name = "Definition"
    question = Question.DEFINITION
    fallback = "grep the symbol"

    def is_answered(self, answer: Answered) -> bool:
        return bool(answer.places)

    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        first, *more = (place_json(found, self.workspace) for found in answer.places)
        fields: JsonObject = {"ok": True, "location": first, **({"more": more} if more else {}), **told}
        return ToolResult(fields, TextBlock(places_text(answer.places, self.workspace)), place)
