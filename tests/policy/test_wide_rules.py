"""Rules for everything deny what they should, and never let a project write the user's own files."""

import pytest

from coder_tui.policy.decide import decide
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer, Rule
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.policy.targets import Action, Policy
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind

INSIDE = Boundaries(("/ws",))
OWN = Action("memory", "memory", ToolKind.EDIT, (Target(TargetKind.NAME, "own", writes=True),))


def policy(*rules: Rule, mode: Mode = Mode.ASK) -> Policy:
    return Policy(INSIDE, mode, (Layer("project", rules),), is_sandboxed=True)


def running(command: str) -> Action:
    targets = (Target(TargetKind.COMMAND, command),)
    found = analyze_command(command, "/ws", roots=("/ws",))
    return Action("bash", "bash", ToolKind.EXECUTE, targets, found)


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS, Mode.AUTO])
@pytest.mark.parametrize("command", ["> x", "# hi", "((1))", ">x <y", "git log &&& rm x", "ls", "X=1"])
def test_commands_that_are_denied_are_denied_without_a_program_in_them(command: str, mode: Mode) -> None:
    denied = policy(Rule("bash", "*", Effect.DENY, "f"), mode=mode)

    assert decide(running(command), denied).effect is Effect.DENY


def test_an_exception_from_a_wide_denial_still_holds() -> None:
    denied = policy(Rule("bash", "*", Effect.DENY, "f"), Rule("bash", "ls*", Effect.ALLOW, "f"))

    assert decide(running("ls -l"), denied).effect is Effect.ALLOW


@pytest.mark.parametrize("key", ["*", "memory"])
def test_no_rule_lets_a_persons_own_instructions_be_written_unasked(key: str) -> None:
    assert decide(OWN, policy(Rule(key, "*", Effect.ALLOW, "f"), mode=Mode.AUTO)).effect is Effect.ASK
    assert decide(OWN, policy(Rule(key, "*", Effect.DENY, "f"))).effect is Effect.DENY
