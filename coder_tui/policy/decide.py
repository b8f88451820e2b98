"""The one decision: may this call run, must it be asked, is it forbidden — and why.

Plan mode as a layer above all others: what is not known to change nothing is denied, whoever asks.
"""

from dataclasses import replace

from coder_tui.policy.commands import AUTO_RULE, decide_command
from coder_tui.policy.findable import is_kept, reading
from coder_tui.policy.model import DEFAULT_SOURCE, FLOOR_SOURCE, SESSION_SOURCE, Action, Policy, Verdict
from coder_tui.policy.rules import EVERYTHING, Effect, Layer, Rule, speaks_of
from coder_tui.policy.targets import EXTERNAL, by_rule, decide_target
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind

CHANGES_NOTHING = "plan mode changes nothing"
# They only make further calls, and each of those is decided by itself.
_DELEGATING = frozenset({"task", "fork", "batch"})


def plan_refusal(action: Action) -> str:
    """Why the call has no place in plan mode; empty where it has one."""
    if action.is_foreign:
        return f"{CHANGES_NOTHING}, and nobody knows what a foreign tool does"
    if any(target.writes for target in action.targets if target.kind is not TargetKind.COMMAND):
        return CHANGES_NOTHING
    if action.kind is ToolKind.OTHER:
        return "" if action.tool in _DELEGATING else CHANGES_NOTHING
    if action.command is not None:
        is_reading = action.command.is_read_only
        return "" if is_reading else f"{CHANGES_NOTHING}, and this command is not known to only read"
    return CHANGES_NOTHING if action.kind.mutates else ""


__all__ = [
    "DEFAULT_SOURCE",
    "EXTERNAL",
    "FLOOR_SOURCE",
    "SESSION_SOURCE",
    "Action",
    "Policy",
    "Verdict",
    "decide",
    "may_all_be_read",
    "refusal_ahead",
]
_SHOWING = frozenset({"edit", "write", "patch", "apply_patch"})
"""Tools that show the files they change: in diffs, and in errors."""
_COMMANDS = "bash"
"""The tool whose calls are judged by their command: some of them only read."""


def decide(action: Action, policy: Policy) -> Verdict:
    """The strictest verdict over all that the call touches."""
    if action.command is not None:
        verdicts = decide_command(action, action.command, policy)
    else:
        verdicts = [decide_target(action, target, policy) for target in action.targets or (None,)]
    if action.tool in _SHOWING:
        verdicts += filter(is_kept, _reading_verdicts(action.targets, policy))
    if policy.mode is Mode.PLAN and (reason := plan_refusal(action)):
        # Last: a rule that denies as well explains more.
        verdicts.append(_plan_verdict(reason))
    strictest = max(verdicts, key=_weight)
    reasons = dict.fromkeys(
        reason for verdict in verdicts if verdict.effect is strictest.effect for reason in verdict.reasons
    )
    return replace(strictest, reasons=_of_weight(strictest.effect, tuple(reasons)))


def may_all_be_read(targets: tuple[Target, ...], policy: Policy) -> bool:
    """Return whether all files among the targets may be read without a question."""
    return all(verdict.effect is Effect.ALLOW for verdict in _reading_verdicts(targets, policy))


def _reading_verdicts(targets: tuple[Target, ...], policy: Policy) -> list[Verdict]:
    paths = (target.value for target in targets if target.kind is TargetKind.PATH)
    return [decide(reading(path), policy) for path in paths]


def refusal_ahead(action: Action, policy: Policy) -> Verdict | None:
    """Return the refusal that holds whatever the call touches; None if that must be known to decide."""
    for layer in policy.layers:
        if rule := _denial_of_all(action, layer):
            return by_rule(rule)
    if policy.mode is Mode.PLAN and action.tool != _COMMANDS and (reason := plan_refusal(action)):
        return _plan_verdict(reason)
    return None


def _denial_of_all(action: Action, layer: Layer) -> Rule | None:
    """Return the layer's rule that denies every call of the tool, unless a later one makes exceptions."""
    for rule in reversed([rule for rule in layer.effective if speaks_of(rule, action.keys)]):
        if rule.effect is not Effect.DENY:
            return None
        if rule.pattern == EVERYTHING:
            return rule
    return None


def _plan_verdict(reason: str) -> Verdict:
    return Verdict(Effect.DENY, "plan mode = deny", "plan mode", (reason,))


def _weight(verdict: Verdict) -> tuple[int, bool, bool]:
    """Of equals what only the mode lets run says most, a default least."""
    return verdict.effect.strictness, verdict.rule == AUTO_RULE, verdict.source != DEFAULT_SOURCE


def _of_weight(effect: Effect, reasons: tuple[str, ...]) -> tuple[str, ...]:
    """A read that runs by default needs no mention beside the rule that allowed the command."""
    if effect is not Effect.ALLOW:
        return reasons
    return tuple(reason for reason in reasons if not reason.startswith("read tools")) or reasons
