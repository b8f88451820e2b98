"""Rules by tool and pattern, and how they match."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from coder_tui.policy.address_patterns import address_matches
from coder_tui.protocol.access import Target, TargetKind


class Effect(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def strictness(self) -> int:
        return {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}[self]


@dataclass(frozen=True, slots=True)
class Rule:
    """`key` names a tool, a permission group or `*`; `pattern` is a glob over what the call touches."""

    key: str
    pattern: str
    effect: Effect
    source: str

    def __str__(self) -> str:
        return f"{self.key} {self.pattern!r} = {self.effect}"


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules from one place; inside it the last match wins."""

    name: str
    rules: tuple[Rule, ...]


EVERYTHING = "*"


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    # Only `*` and `?` are special: brackets are ordinary characters of commands and paths.
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(char, re.escape(char)) for char in pattern), re.DOTALL)


def pattern_matches(pattern: str, value: str) -> bool:
    return _compiled(pattern).fullmatch(value) is not None


def rule_matches(rule: Rule, keys: frozenset[str], target: Target | None, shown: str) -> bool:
    """Whether `rule` speaks of this call and target; `shown` is the target's workspace-relative form."""
    if rule.key != EVERYTHING and rule.key not in keys:
        return False
    if target is None or rule.pattern == EVERYTHING:
        return rule.pattern == EVERYTHING and _may_cover_all(rule, target)
    if target.kind is TargetKind.COMMAND and rule.effect is Effect.ALLOW:
        # Until a command's parts are known, only the very same text counts as granted.
        return rule.pattern == target.value
    if target.kind is TargetKind.ADDRESS:
        return address_matches(rule.pattern, target.value, strictly=rule.effect is Effect.ALLOW)
    return pattern_matches(rule.pattern, target.value) or pattern_matches(rule.pattern, shown)


def _may_cover_all(rule: Rule, target: Target | None) -> bool:
    is_command = target is not None and target.kind is TargetKind.COMMAND
    return not (is_command and rule.effect is Effect.ALLOW)
