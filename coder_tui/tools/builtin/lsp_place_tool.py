"""A tool that asks language servers about one place: the same for definition, references and hover."""

from abc import abstractmethod
from typing import ClassVar

from coder_tui.lsp.pool import LspPool
from coder_tui.lsp.wire import Answered, Question
from coder_tui.protocol.access import ToolKind
from coder_tui.tools.base import Access, JsonObject, Tool, ToolContext, ToolResult
from coder_tui.tools.builtin.approved import declare_reading
from coder_tui.tools.builtin.lsp_answers import read_for_servers, unanswered
from coder_tui.tools.builtin.lsp_position import PositionParams, resolve
from coder_tui.workspace.confine import Workspace


class LspPlaceTool(Tool[PositionParams]):
    kind = ToolKind.READ
    params = PositionParams
    permission = "lsp"
    question: ClassVar[Question]
    fallback: ClassVar[str]
    """What a model can do where no server answers."""

    def __init__(self, workspace: Workspace, pool: LspPool) -> None:
        self.workspace = workspace
        self._pool = pool

    def summary(self, params: PositionParams) -> str:
        return params.place

    async def access(self, params: PositionParams, ctx: ToolContext) -> Access:
        return declare_reading(self.workspace.locate(params.path))

    async def run(self, params: PositionParams, ctx: ToolContext) -> ToolResult:
        located, text = await read_for_servers(self.workspace, params.path, ctx)
        at = resolve(params, text)
        answer = await self._pool.ask(self.question, located.path, text, line=at.line, character=at.character)
        if not self.is_answered(answer):
            raise unanswered(answer.status, located.shown, answer.detail, self.fallback)
        told: JsonObject = {"asked_line": at.text, "server_status": str(answer.status)}
        return self.result(params.place, answer, told)

    @abstractmethod
    def is_answered(self, answer: Answered) -> bool:
        """Whether the answer is worth telling."""

    @abstractmethod
    def result(self, place: str, answer: Answered, told: JsonObject) -> ToolResult:
        """`told` are the fields that all answers have."""
