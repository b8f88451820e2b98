"""The `lsp_hover` tool: the type and documentation of what stands at a place."""

from coder_tui.lsp.wire import Answered, Question
from coder_tui.protocol.display import MarkdownBlock
from coder_tui.tools.base import JsonObject, ToolResult
from coder_tui.tools.builtin.lsp_place_tool import LspPlaceTool


class LspHoverTool(LspPlaceTool):
    name = "lsp_hover"
    display_name = "Hover"
    question = Question.HOVER
    fallback = "read the source"

    def is_answered(self, answer: Answered) -> bool:
        return bool(answer.contents)

    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        fields: JsonObject = {"ok": True, "contents": answer.contents, **told}
        return ToolResult(fields, MarkdownBlock(answer.contents), place)
