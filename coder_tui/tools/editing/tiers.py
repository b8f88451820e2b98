"""The tiers of matching: each forgives a little more, and the first that finds any place decides."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.indent import Indentation
from coder_tui.tools.editing.outcome import Strategy
from coder_tui.tools.editing.script import FileLines, LineText, Script

_MOST_PLACES = 1_000
_MOST_LONG_PLACES = 50
_LONG = 200
"""Lines: to look for more of them again and again takes too long, and few places are enough to refuse."""
TELLING = 4
"""Fewer characters than these may match anywhere: they are taken only as they are."""


class Tier(IntEnum):
    """How forgiving a comparison was."""

    LITERAL = 0
    EXACT = 1
    TRAILING = 2
    SHIFTED = 3
    TRIMMED = 4
    PUNCTUATION = 5
    SPACELESS = 6
    APPROXIMATE = 7


LENIENT = tuple(tier for tier in Tier if tier is not Tier.APPROXIMATE)
STRATEGIES = {
    Tier.LITERAL: Strategy.EXACT,
    Tier.EXACT: Strategy.EXACT,
    Tier.TRAILING: Strategy.WHITESPACE_NORMALIZED,
    Tier.SHIFTED: Strategy.INDENTATION_FLEXIBLE,
    Tier.TRIMMED: Strategy.LINE_TRIMMED,
    Tier.PUNCTUATION: Strategy.WHITESPACE_NORMALIZED,
    Tier.SPACELESS: Strategy.WHITESPACE_NORMALIZED,
}
_FOLDS: dict[Tier, Callable[[str], str]] = {
    Tier.EXACT: normalize.without_return,
    Tier.TRAILING: normalize.trailing,
    Tier.SHIFTED: normalize.trimmed,
    Tier.TRIMMED: normalize.trimmed,
    Tier.PUNCTUATION: normalize.punctuation,
    Tier.SPACELESS: normalize.spaceless,
}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where each line of the old side is in the file; None where the file has no such line."""

    rows: tuple[int | None, ...]
    start: int
    tier: Tier
    strategy: Strategy
    weak: frozenset[int] = frozenset()
    """Old lines whose place is told by their neighbours, not by their own text."""

    @property
    def end(self) -> int:
        return max((row for row in self.rows if row is not None), default=self.start - 1) + 1


class Searched:
    """A file made ready for many searches."""

    def __init__(self, lines: FileLines) -> None:
        self.lines = lines
        self._texts: dict[Tier, LineText] = {}

    def text_of(self, tier: Tier) -> LineText:
        if tier not in self._texts:
            fold_line = _FOLDS.get(tier)
            folded = [fold_line(line) for line in self.lines.seen] if fold_line else self.lines.literal
            self._texts[tier] = LineText(folded)
        return self._texts[tier]

    @cached_property
    def spaceless(self) -> list[str]:
        return [normalize.spaceless(line) for line in self.lines.seen]

    @cached_property
    def line_set(self) -> frozenset[str]:
        return frozenset(self.lines.seen)


def places_by_tier(file: Searched, script: Script, tiers: tuple[Tier, ...]) -> list[Placement]:
    """All places of the old side at the first tier that has any."""
    if not script.old:
        return []
    for tier in tiers:
        if tier > Tier.EXACT and script.significant < TELLING:
            return []
        if found := _places(file, script, tier):
            return found
    return []


def _places(file: Searched, script: Script, tier: Tier) -> list[Placement]:
    fold_line = _FOLDS.get(tier)
    wanted = [fold_line(text) for text in script.old] if fold_line else list(script.old)
    most = _MOST_PLACES if len(wanted) < _LONG else _MOST_LONG_PLACES
    starts = file.text_of(tier).places(wanted, most)
    if tier is Tier.SHIFTED:
        starts = [start for start in starts if _is_shifted(file, script, start)]
    size = len(script.old)
    return [Placement(tuple(range(start, start + size)), start, tier, STRATEGIES[tier]) for start in starts]


def _is_shifted(file: Searched, script: Script, start: int) -> bool:
    """Whether the lines differ by their indentation alone, and all by the same rule."""
    seen = file.lines.seen[start : start + len(script.old)]
    pairs = {
        (normalize.lead(old), normalize.lead(line))
        for old, line in zip(script.old, seen, strict=True)
        if old.strip()
    }
    return Indentation.learn(pairs).is_uniform
