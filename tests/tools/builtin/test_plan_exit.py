"""`plan_exit`: what becomes of a plan."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.requests import PlanDecision, PlanReply
from coder_tui.tools.arguments import understand
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.plan_exit import CANCELLED, NOBODY, REFUSED, PlanExitTool
from tests.fakes.person import Person, Plans

PLAN = "# Make div safe\n\n1. guard"


async def decided(reply: PlanReply) -> tuple[dict[str, Any], str, Plans]:
    plans = Plans()
    tool = PlanExitTool(Person([reply]), plans)
    params = tool.params(plan=f"\n{PLAN}\n")
    result = await tool.run(params, ToolContext("s", "c1", Path("/srv")))
    return result.for_model, result.summary, plans


async def test_an_approved_plan_is_kept_and_carried_out() -> None:
    told, summary, plans = await decided(PlanReply(PlanDecision.APPROVE))
    assert told == {"ok": True, "approved": True}
    assert (summary, plans.approved) == ("approved, build goes on", [PLAN])


async def test_the_persons_own_version_is_what_is_kept_and_told() -> None:
    told, _, plans = await decided(PlanReply(PlanDecision.APPROVE, edited="# Only this\n"))
    assert plans.approved == ["# Only this"]
    assert told["approved"] is True
    assert str(told["feedback"]).endswith("# Only this")


@pytest.mark.parametrize("edited", ["", "  \n", f"{PLAN}\n"])
async def test_an_edit_that_changes_nothing_is_a_plain_yes(edited: str) -> None:
    told, _, plans = await decided(PlanReply(PlanDecision.APPROVE, edited=edited))
    assert (told, plans.approved) == ({"ok": True, "approved": True}, [PLAN])


@pytest.mark.parametrize(("words", "feedback"), [("Tests first.", "Tests first."), ("", REFUSED)])
async def test_a_refusal_returns_the_persons_words(words: str, feedback: str) -> None:
    told, _, plans = await decided(PlanReply(PlanDecision.REFUSE, words))
    assert told == {"ok": True, "approved": False, "feedback": feedback}
    assert plans.approved == []


async def test_nobody_there_approves_nothing() -> None:
    told, _, plans = await decided(PlanReply(PlanDecision.NOBODY_THERE))
    assert (told, plans.approved) == ({"ok": True, "approved": False, "feedback": NOBODY}, [])


async def test_closing_the_plan_is_a_cancellation() -> None:
    with pytest.raises(ToolError) as caught:
        await decided(PlanReply(PlanDecision.CANCEL))
    assert (caught.value.type, caught.value.message) == (ErrorType.CANCELLED, CANCELLED)


@pytest.mark.parametrize(
    "plan", ["", " \n ", "x" * 1_000_000, 7, None], ids=["no", "blank", "huge", "number", "null"]
)
def test_a_bad_plan_can_be_mended(plan: object) -> None:
    with pytest.raises(ToolError) as caught:
        understand(PlanExitTool(Person([]), Plans()), json.dumps({"plan": plan}))
    assert caught.value.message.startswith("invalid args: plan: ")
