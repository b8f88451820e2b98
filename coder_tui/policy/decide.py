"""The one decision: may this call run, must it be asked, is it forbidden — and why."""

from dataclasses import replace

from coder_tui.policy.action import (
    DEFAULT_SOURCE,
    FLOOR_SOURCE,
    SESSION_SOURCE,
    Action,
    Policy,
    Verdict,
)
from coder_tui.policy.commands import AUTO_RULE, decide_command
from coder_tui.policy.plan_layer import plan_refusal
from coder_tui.policy.rules import Effect
from coder_tui.policy.targets import EXTERNAL, decide_target
from coder_tui.protocol.access import Mode

__all__ = [
    "DEFAULT_SOURCE",
    "EXTERNAL",
    "FLOOR_SOURCE",
    "SESSION_SOURCE",
    "Action",
    "Policy",
    "Verdict",
    "decide",
]


def decide(action: Action, policy: Policy) -> Verdict:
    """The strictest verdict over all that the call touches."""
    if action.command is not None:
        verdicts = decide_command(action, action.command, policy)
    else:
        verdicts = [decide_target(action, target, policy) for target in action.targets or (None,)]
    if policy.mode is Mode.PLAN and (reason := plan_refusal(action)):
        # Last: a rule that denies as well explains more.
        verdicts.append(Verdict(Effect.DENY, "plan mode = deny", "plan mode", (reason,)))
    strictest = max(verdicts, key=_weight)
    reasons = dict.fromkeys(
        reason for verdict in verdicts if verdict.effect is strictest.effect for reason in verdict.reasons
    )
    return replace(strictest, reasons=_of_weight(strictest.effect, tuple(reasons)))


def _weight(verdict: Verdict) -> tuple[int, bool, bool]:
    """Of equals what only the mode lets run says most, a default least."""
    return verdict.effect.strictness, verdict.rule == AUTO_RULE, verdict.source != DEFAULT_SOURCE


def _of_weight(effect: Effect, reasons: tuple[str, ...]) -> tuple[str, ...]:
    """A read that runs by default needs no mention beside the rule that allowed the command."""
    if effect is not Effect.ALLOW:
        return reasons
    return tuple(reason for reason in reasons if not reason.startswith("read tools")) or reasons
