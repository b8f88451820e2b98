"""Decisions in plan mode, for foreign tools, and with a layer that can only tighten."""

from dataclasses import replace

import pytest

from coder_tui.policy.decide import Action, Policy, decide, offered_grants
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm

ROOT = "/srv/project"
ALL = Layer("user", tuple(Rule(key, "*", Effect.ALLOW, "user") for key in ("*", "bash", "edit", "mcp__*")))
GRANTED = tuple(Grant(key, ("*",), "all", GrantForm.GLOB) for key in ("bash", "edit", "mcp__far__do", "look"))
PLAN = Policy(Boundaries((ROOT,)), Mode.PLAN, (ALL,), GRANTED)


def path(name: str, *, writes: bool) -> Target:
    return Target(TargetKind.PATH, f"{ROOT}/{name}", writes)


def command(text: str) -> Action:
    return Action(
        "bash", "bash", ToolKind.EXECUTE, (Target(TargetKind.COMMAND, text),), analyze_command(text, ROOT)
    )


REFUSED = {
    "edit": Action("edit", "edit", ToolKind.EDIT, (path("a", writes=True),)),
    "a reading tool that writes": Action("read", "read", ToolKind.READ, (path("a", writes=True),)),
    "a thinking tool that writes": Action("x", "x", ToolKind.THINK, (path("a", writes=True),)),
    "delete": Action("rm", "edit", ToolKind.DELETE),
    "kill": Action("bash_kill", "bash", ToolKind.EXECUTE),
    "commit": Action("git_commit", "git_commit", ToolKind.EXECUTE, (path(".git", writes=True),)),
    "unknown": Action("thing", "thing", ToolKind.OTHER),
    "foreign": Action("mcp__far__do", "mcp__far__do", ToolKind.OTHER, is_foreign=True),
    "foreign that claims to read": Action("look", "look", ToolKind.READ, is_foreign=True),
    "foreign that calls itself task": Action("task", "task", ToolKind.OTHER, is_foreign=True),
    "post": Action("fetch", "fetch", ToolKind.FETCH, (Target(TargetKind.ADDRESS, "https://a.org/", True),)),
    "a command that was not taken apart": Action(
        "bash", "bash", ToolKind.EXECUTE, (Target(TargetKind.COMMAND, "ls"),)
    ),
    "touch": command("touch a"),
    "doubtful": command("cat $X"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_that_may_change_something_passes(name: str) -> None:
    assert decide(REFUSED[name], PLAN).effect is Effect.DENY


ALLOWED = {
    "read": Action("read", "read", ToolKind.READ, (path("a", writes=False),)),
    "todos": Action("todowrite", "todo", ToolKind.THINK),
    "task": Action("task", "task", ToolKind.OTHER),
    "batch": Action("batch", "batch", ToolKind.OTHER),
    "cat": command("cat a"),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_reading_and_delegating_still_run(name: str) -> None:
    assert decide(ALLOWED[name], PLAN).effect is Effect.ALLOW


def test_reasons_say_that_it_is_plan_mode() -> None:
    verdict = decide(REFUSED["foreign"], PLAN)
    assert (verdict.rule, verdict.source) == ("plan mode = deny", "plan mode")


@pytest.mark.parametrize("kind", [ToolKind.READ, ToolKind.THINK, ToolKind.SEARCH, ToolKind.OTHER])
@pytest.mark.parametrize("name", ["look", "task", "git_status"])
def test_a_foreign_tool_asks_whatever_it_claims_to_be(name: str, kind: ToolKind) -> None:
    plain = Policy(Boundaries((ROOT,)))
    assert decide(Action(name, name, kind, is_foreign=True), plain).effect is Effect.ASK


AGENT = Layer(
    "agent x",
    (
        Rule("bash", "*", Effect.DENY, "x.md"),
        Rule("bash", "git log*", Effect.ALLOW, "x.md"),
        Rule("edit", "*", Effect.ALLOW, "x.md"),
        Rule("edit", "docs/*", Effect.ASK, "x.md"),
    ),
    only_tightens=True,
)
EDIT = Action("edit", "edit", ToolKind.EDIT, (path("a", writes=True),))
DOCS = replace(EDIT, targets=(path("docs/a", writes=True),))


@pytest.mark.parametrize(
    ("action", "alone", "with_all"),
    [
        (command("git log"), Effect.ASK, Effect.ALLOW),
        (command("ls"), Effect.DENY, Effect.DENY),
        (command("git log; ls"), Effect.DENY, Effect.DENY),
        (EDIT, Effect.ASK, Effect.ALLOW),
        (DOCS, Effect.ASK, Effect.ASK),
    ],
    ids=["excepted", "denied", "both", "edit", "docs"],
)
def test_an_agents_layer_can_only_tighten_and_its_allow_permits_nothing(
    action: Action, alone: Effect, with_all: Effect
) -> None:
    boundaries = Boundaries((ROOT,))
    assert decide(action, Policy(boundaries, layers=(AGENT,))).effect is alone
    assert decide(action, Policy(boundaries, layers=(ALL, AGENT))).effect is with_all


def test_no_saved_rule_is_offered_that_an_agents_layer_would_override() -> None:
    policy = Policy(Boundaries((ROOT,)), layers=(AGENT,))
    assert {grant.scope for grant in offered_grants(EDIT, policy)} == {"session", "project", "user"}
    assert {grant.scope for grant in offered_grants(DOCS, policy)} == {"session"}
