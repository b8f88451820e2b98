"""`plan_exit`: what happens to a plan."""

import json
from pathlib import Path
from typing import Any

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.requests import PlanDecision, PlanReply
from coder_tui.tools.arguments import parse_call
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.plan_exit import CANCELLED, NOBODY, REFUSED, PlanExitTool
from tests.fakes.fake_user import FakeUser, Plans

PLAN = "# Make div safe\n\n1. guard"


async def decided(reply: PlanReply) -> tuple[dict[str, Any], str, Plans]:
    plans = Plans()
    tool = PlanExitTool(FakeUser([reply]), plans)
    params = tool.params(plan=f"\n{PLAN}\n")
    result = await tool.run(params, ToolContext("s", "c1", Path("/srv")))
    return result.for_model, result.summary, plans


async def test_an_approved_plan_is_kept_and_carried_out() -> None:
    fields, summary, plans = await decided(PlanReply(PlanDecision.APPROVE))
    assert fields == {"ok": True, "approved": True}
    assert (summary, plans.approved) == ("approved, build continues", [PLAN])


async def test_the_users_own_version_is_stored_and_returned() -> None:
    fields, _, plans = await decided(PlanReply(PlanDecision.APPROVE, edited="# Only this\n"))
    assert plans.approved == ["# Only this"]
    assert fields["approved"] is True
    assert str(fields["feedback"]).endswith("# Only this")


@pytest.mark.parametrize("edited", ["", "  \n", f"{PLAN}\n"])
async def test_an_edit_that_changes_nothing_is_a_plain_yes(edited: str) -> None:
    fields, _, plans = await decided(PlanReply(PlanDecision.APPROVE, edited=edited))
    assert (fields, plans.approved) == ({"ok": True, "approved": True}, [PLAN])


@pytest.mark.parametrize(("words", "feedback"), [("Tests first.", "Tests first."), ("", REFUSED)])
async def test_a_refusal_returns_the_users_words(words: str, feedback: str) -> None:
    fields, _, plans = await decided(PlanReply(PlanDecision.REFUSE, words))
    assert fields == {"ok": True, "approved": False, "feedback": feedback}
    assert plans.approved == []


async def test_without_a_user_nothing_is_approved() -> None:
    fields, _, plans = await decided(PlanReply(PlanDecision.NOBODY_THERE))
    assert (fields, plans.approved) == ({"ok": True, "approved": False, "feedback": NOBODY}, [])


async def test_closing_the_plan_is_a_cancellation() -> None:
    with pytest.raises(ToolError) as caught:
        await decided(PlanReply(PlanDecision.CANCEL))
    assert (caught.value.type, caught.value.message) == (ErrorType.CANCELLED, CANCELLED)


@pytest.mark.parametrize(
    "plan", ["", " \n ", "x" * 1_000_000, 7, None], ids=["no", "blank", "huge", "number", "null"]
)
def test_a_bad_plan_can_be_repaired(plan: object) -> None:
    with pytest.raises(ToolError) as caught:
        parse_call(PlanExitTool(FakeUser([]), Plans()), json.dumps({"plan": plan}))
    assert caught.value.message.startswith("invalid args: plan: ")
