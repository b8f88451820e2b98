"""What a hook wishes of policy, and how far that reaches: never over a rule, a protection or plan mode."""

from dataclasses import dataclass

from coder_tui.policy.action import DEFAULT_SOURCE, Verdict
from coder_tui.policy.rules import Effect

HOOK_RULE = "a hook"


@dataclass(frozen=True, slots=True)
class HookWish:
    """A question, or none where only a default would ask one."""

    effect: Effect
    reason: str
    source: str


def wished(verdict: Verdict, wish: HookWish | None) -> Verdict:
    if wish is None:
        return verdict
    own = Verdict(wish.effect, HOOK_RULE, wish.source, (wish.reason,))
    if wish.effect is Effect.ALLOW:
        is_default = verdict.effect is Effect.ASK and verdict.source == DEFAULT_SOURCE
        return own if is_default else verdict
    return own if wish.effect.strictness > verdict.effect.strictness else verdict
