"""Requests besides approvals, for screens and for tools that ask."""

from coder_tui.agent.event_bus import RequestBroker
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.requests import Option, PlanRequest, Question, QuestionRequest
from coder_tui.tools.base import Access, Params, Tool, ToolContext, ToolResult

STORAGE = Question(
    "Where should sessions be kept?",
    (
        Option("sqlite", "One file, no server; full-text search is built in."),
        Option("postgres", "For many users at once."),
    ),
    header="Storage",
)
TESTS = Question(
    "Which tests should I add?",
    (Option("unit"), Option("property"), Option("end to end")),
    multi=True,
    header="Tests",
)
RELEASE = Question("When do you want to release?", header="Release")
PLAN = "# Make div safe\n\n1. guard the divisor\n2. add a test\n\n```python\nraise ValueError\n```\n"


def questions(*asked: Question, id: str = "q1") -> QuestionRequest:
    return QuestionRequest(id, f"call-{id}", asked or (STORAGE, TESTS, RELEASE))


def plan(text: str = PLAN, id: str = "p1") -> PlanRequest:
    return PlanRequest(id, f"call-{id}", text)


class AskParams(Params):
    text: str


class AskTool(Tool[AskParams]):
    """Asks one question through the broker, as a tool of the core would."""

    name = "ask"
    kind = ToolKind.THINK
    display_name = "Ask"
    params = AskParams
    permission = "ask"

    def __init__(self, broker: RequestBroker) -> None:
        self._broker = broker

    def summary(self, params: AskParams) -> str:
        return params.text

    async def access(self, params: AskParams, ctx: ToolContext) -> Access | None:
        return None

    async def run(self, params: AskParams, ctx: ToolContext) -> ToolResult:
        request = QuestionRequest(
            "asked", ctx.call_id, (Question(params.text, (Option("yes"), Option("no"))),)
        )
        reply = await self._broker.ask(request)
        answers = [answer.picked for answer in reply.answers]
        return ToolResult(
            {"ok": True, "attendance": reply.attendance, "answers": answers}, TextBlock("asked")
        )
