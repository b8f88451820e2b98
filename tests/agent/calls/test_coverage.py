"""What "always" would have covered of what was asked before in the session."""

from dataclasses import replace
from pathlib import Path

from coder_tui.agent.calls.permissions import ApprovalHistory
from coder_tui.policy.decide import Action, Policy
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.protocol.access import Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm
from tests.fakes.scripted_model import Say
from tests.fakes.world import ALLOW, world

POLICY = Policy(Boundaries(("/srv",)))
EXACT = Grant("act", ("x",), "x")
ALL = Grant("act", ("*",), "all", GrantForm.GLOB)


def act(name: str) -> Action:
    return Action("act", "act", ToolKind.EXECUTE, (Target(TargetKind.NAME, name, writes=True),))


def before(*names: str) -> ApprovalHistory:
    asked = ApprovalHistory()
    for name in names:
        asked.remember(act(name), f"act {name}")
    return asked


def test_a_wider_grant_covers_more_and_each_summary_is_reported_once() -> None:
    asked = before("x", "y", "x")
    assert asked.covered(EXACT, POLICY) == ("act x",)
    assert asked.covered(ALL, POLICY) == ("act x", "act y")


def test_what_another_grant_lets_pass_already_is_not_reported() -> None:
    assert before("x", "y").covered(ALL, replace(POLICY, grants=(EXACT,))) == ("act y",)


def test_what_is_denied_stays_denied() -> None:
    layer = Layer("mine", (Rule("act", "y", Effect.DENY, "mine"),))
    assert before("x", "y").covered(ALL, replace(POLICY, layers=(layer,))) == ("act x",)


async def test_a_request_carries_what_each_of_its_grants_would_have_covered(tmp_path: Path) -> None:
    calls = [Say(calls=(("act", {"text": name}),)) for name in ("x", "y", "x")]
    async with world(tmp_path, [*calls, Say("ok")], answers=[ALLOW] * 3) as made:
        await made.session.submit("go")

    assert [request.covered[0] for request in made.asked_before] == [(), (), ("act x",)]
