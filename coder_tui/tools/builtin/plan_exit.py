"""The `plan_exit` tool: ask the user to approve the plan. Approval leaves plan mode and carries it out."""

from typing import Annotated, assert_never
from uuid import uuid4

from pydantic import Field, StringConstraints

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import MarkdownBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.requests import PlanDecision, PlanReply, PlanRequest
from coder_tui.tools.base import Audience, JsonObject, Params, PureTool, ToolContext, ToolResult
from coder_tui.tools.ports import Asker, PlanKeeper

MOST_CHARACTERS = 50_000
NOBODY = "Nobody is there to approve the plan, so nothing may be changed. Answer with the plan and stop."
REFUSED = "The user did not approve the plan and gave no reason. Ask what should be different."
CANCELLED = "the user closed the plan without deciding"


class PlanExitParams(Params):
    plan: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1), Field(max_length=MOST_CHARACTERS)
    ]


class PlanExitTool(PureTool[PlanExitParams]):
    name = "plan_exit"
    kind = ToolKind.THINK
    display_name = "Plan"
    params = PlanExitParams
    audience = Audience.MAIN
    permission = "plan_exit"

    def __init__(self, asker: Asker, plans: PlanKeeper) -> None:
        self._asker = asker
        self._plans = plans

    def summary(self, params: PlanExitParams) -> str:
        return next(line.strip("# \t") for line in params.plan.splitlines())[:200]

    async def run(self, params: PlanExitParams, ctx: ToolContext) -> ToolResult:
        reply = await self._asker.ask(PlanRequest(uuid4().hex, ctx.call_id, params.plan))
        match reply.decision:
            case PlanDecision.APPROVE:
                return await self._approved(params.plan, reply)
            case PlanDecision.REFUSE:
                return _result(
                    params.plan, "not approved", approved=False, feedback=reply.feedback or REFUSED
                )
            case PlanDecision.NOBODY_THERE:
                return _result(params.plan, "nobody is there to approve it", approved=False, feedback=NOBODY)
            case PlanDecision.CANCEL:
                raise ToolError(
                    ErrorType.CANCELLED,
                    CANCELLED,
                    "You are still in plan mode. Wait for the next message.",
                )
            case _:
                assert_never(reply.decision)

    async def _approved(self, plan: str, reply: PlanReply) -> ToolResult:
        edited = (reply.edited or "").strip()
        is_edited = bool(edited) and edited != plan
        agent = await self._plans.approve(edited if is_edited else plan)
        if not is_edited:
            return _result(plan, f"approved, {agent} continues", approved=True)
        feedback = f"The user changed the plan before approving it. Carry out this one:\n\n{edited}"
        return _result(edited, f"changed and approved, {agent} continues", approved=True, feedback=feedback)


def _result(plan: str, summary: str, *, approved: bool, feedback: str = "") -> ToolResult:
    fields: JsonObject = {"ok": True, "approved": approved}
    if feedback:
        fields["feedback"] = feedback
    return ToolResult(fields, MarkdownBlock(plan), summary)
