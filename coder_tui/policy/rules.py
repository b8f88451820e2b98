"""Rules by tool and pattern, and how they match."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from coder_tui.policy.address_patterns import address_matches
from coder_tui.policy.keys import FOREIGN
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
    yields_to_mode: bool = False
    """The person's own `"*" = "ask"`: it says what holds anyway, so a mode that they choose outweighs it."""

    def __str__(self) -> str:
        return f"{self.key} {self.pattern!r} = {self.effect}"


@dataclass(frozen=True, slots=True)
class Layer:
    """Rules from one place; inside it the last match wins."""

    name: str
    rules: tuple[Rule, ...]
    is_trusted: bool = True
    """A place that the person has not trusted may only make things stricter."""
    only_tightens: bool = False
    """Where its last match allows it says nothing: an exception from its own rules, and no permission."""

    @property
    def effective(self) -> tuple[Rule, ...]:
        if self.is_trusted:
            return self.rules
        return tuple(rule for rule in self.rules if rule.effect is not Effect.ALLOW)

    def says(self, match: Rule | None) -> Rule | None:
        """What the layer's last match counts for."""
        is_silent = match is not None and match.effect is Effect.ALLOW and self.only_tightens
        return None if is_silent else match


def strictest(rules: Iterable[Rule]) -> Rule | None:
    """Of several that ask, one that holds in every mode."""
    return max(rules, key=lambda rule: (rule.effect.strictness, not rule.yields_to_mode), default=None)


EVERYTHING = "*"
_WILD = re.compile(r"[*?]")
_PROGRAM = re.compile(r"[\w.+-]+(?=\*)")


@lru_cache(maxsize=512)
def _pieces(pattern: str) -> tuple[re.Pattern[str], ...]:
    # Only `*` and `?` are special: brackets are ordinary characters of commands and paths.
    return tuple(
        re.compile("".join("." if char == "?" else re.escape(char) for char in piece), re.DOTALL)
        for piece in pattern.split("*")
    )


def pattern_matches(pattern: str, value: str) -> bool:
    """Piece by piece from the left, so that many stars over a long text stay quick."""
    first, *rest = _pieces(pattern)
    if not rest:
        return first.fullmatch(value) is not None
    found = first.match(value)
    for piece in rest[:-1]:
        found = piece.search(value, found.end()) if found else None
    if found is None:
        return False
    start = len(value) - len(pattern.rpartition("*")[2])
    return start >= found.end() and rest[-1].match(value, start) is not None


def allows_command(pattern: str, text: str) -> bool:
    """As `pattern_matches`, but a star right behind a program's name stands for its arguments alone.

    Taken as text, `cat*` would also let `catchsegv ./x` run. A version is no other program: `python3.12`.
    """
    if not pattern_matches(pattern, text):
        return False
    program = _PROGRAM.match(pattern)
    if program is None:
        return True
    rest = text[len(program[0]) :]
    return re.match(r"-?[0-9.]*(\s|$)", rest) is not None


def is_exact(pattern: str) -> bool:
    return _WILD.search(pattern) is None


def key_matches(wanted: str, key: str) -> bool:
    """`mcp__server__*` stands for every tool of that server; other keys are names."""
    if wanted.startswith(FOREIGN) and wanted.endswith("*"):
        return pattern_matches(wanted, key)
    return wanted in (EVERYTHING, key)


def speaks_of(rule: Rule, keys: frozenset[str]) -> bool:
    return any(key_matches(rule.key, key) for key in keys)


def rule_matches(rule: Rule, keys: frozenset[str], target: Target | None, shown: str) -> bool:
    """Whether `rule` speaks of this call and target; `shown` is the target's workspace-relative form."""
    if not speaks_of(rule, keys):
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
