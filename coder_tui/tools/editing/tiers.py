"""Match in tiers: each is more lenient, and the first that finds any place decides.

Also learns from matched lines how the model's indentation maps to the file's, and translates it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import groupby

from coder_tui.tools.editing import normalize
from coder_tui.tools.editing.script import FileLines, LineText, Mark, Script, ScriptLine

_TAB_WIDTHS = (4, 2, 8, 3)

Pair = tuple[str, str]
"""The leading whitespace of one matched line, as the model and as the file have it."""
Shift = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Indentation:
    """Leading whitespace that always maps to the same, and a rule that explains all of it, if any does."""

    known: dict[str, str]
    rule: Shift | None

    @classmethod
    def learn(cls, pairs: Iterable[Pair]) -> "Indentation":
        meanings: dict[str, set[str]] = {}
        for model, file in pairs:
            meanings.setdefault(model, set()).add(file)
        known = {model: next(iter(files)) for model, files in meanings.items() if len(files) == 1}
        is_plain = len(known) == len(meanings)
        return cls(known, _rule(sorted(known.items())) if is_plain else None)

    @property
    def is_uniform(self) -> bool:
        """Return whether one rule explains every line."""
        return self.rule is not None

    def translate(self, lead: str) -> str | None:
        """Return the file's indentation for a model's line; None if the matched lines do not determine it."""
        if lead in self.known and not self.is_mixed(lead):
            return self.known[lead]
        return self.rule(lead) if self.rule else None

    def is_mixed(self, lead: str) -> bool:
        """Return whether another of the model's indentations stands for the same one of the file."""
        file = self.known.get(lead)
        return file is not None and list(self.known.values()).count(file) > 1


def _rule(pairs: list[Pair]) -> Shift | None:
    """Return the simplest rule that fits: the same, a prefix more or less, other tabs, other steps."""
    if all(model == file for model, file in pairs):
        return lambda lead: lead
    return _prefix_rule(pairs) or _tab_rule(pairs) or _step_rule(pairs)


def _prefix_rule(pairs: list[Pair]) -> Shift | None:
    model, file = pairs[0]
    if file.endswith(model):
        more = file.removesuffix(model)
        if all(file == more + model for model, file in pairs):
            return lambda lead: more + lead
    if model.endswith(file):
        less = model.removesuffix(file)
        if all(model == less + file for model, file in pairs):
            # A line with less than that was already at the margin.
            return lambda lead: lead[len(less) :] if lead.startswith(less) else ""
    return None


def _tab_rule(pairs: list[Pair]) -> Shift | None:
    """Return a rule for tabs instead of spaces or the reverse, perhaps shifted as a whole."""
    uses_tabs = any("\t" in file for _, file in pairs)
    if uses_tabs == any("\t" in model for model, _ in pairs):
        return None
    fits = [(width, _common_shift(pairs, width)) for width in _TAB_WIDTHS]
    for width, shift in sorted(fits, key=lambda fit: fit[1] != 0):
        if shift is not None:
            return _restyled(width, shift, uses_tabs=uses_tabs)
    return None


def _common_shift(pairs: list[Pair], width: int) -> int | None:
    shifts = {_columns(file, width) - _columns(model, width) for model, file in pairs}
    return shifts.pop() if len(shifts) == 1 else None


def _restyled(width: int, shift: int, *, uses_tabs: bool) -> Shift:
    def translate(lead: str) -> str | None:
        columns = _columns(lead, width) + shift
        if columns < 0:
            return None
        return "\t" * (columns // width) + " " * (columns % width) if uses_tabs else " " * columns

    return translate


def _columns(lead: str, width: int) -> int:
    return len(lead.expandtabs(width))


def _step_rule(pairs: list[Pair]) -> Shift | None:
    """Return a rule for steps of another size, such as two spaces for four, if two indentations fit it."""
    characters = set("".join(file for _, file in pairs))
    if len(pairs) < 2 or len(characters) != 1:
        return None
    (first_model, first_file), (last_model, last_file) = pairs[0], pairs[-1]
    if len(first_model) == len(last_model):
        return None
    step = Fraction(len(last_file) - len(first_file), len(last_model) - len(first_model))
    character = characters.pop()

    def translate(lead: str) -> str | None:
        size = len(first_file) + step * (len(lead) - len(first_model))
        return character * int(size) if size >= 0 and size.denominator == 1 else None

    return translate if step > 0 and all(translate(model) == file for model, file in pairs) else None


_MOST_PLACES = 1_000
_MOST_LONG_PLACES = 50
_LONG = 200
"""Lines. Searching for more of them repeatedly takes too long, and few places are enough to refuse."""
FEWEST_CHARACTERS = 4
"""A text with fewer characters may match anywhere, so it is only matched exactly."""


class Strategy(StrEnum):
    """In the order in which they are tried; several may share one mechanism."""

    EXACT = "exact"
    LINE_TRIMMED = "line_trimmed"
    BLOCK_ANCHOR = "block_anchor"
    WHITESPACE_NORMALIZED = "whitespace_normalized"
    INDENTATION_FLEXIBLE = "indentation_flexible"
    ESCAPE_NORMALIZED = "escape_normalized"
    TRIMMED_BOUNDARY = "trimmed_boundary"
    CONTEXT_AWARE = "context_aware"
    MULTI_OCCURRENCE = "multi_occurrence"

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Strategy.EXACT: "matched exactly",
    Strategy.LINE_TRIMMED: "matched ignoring blanks around lines",
    Strategy.BLOCK_ANCHOR: "matched by first and last line; other lines differ",
    Strategy.WHITESPACE_NORMALIZED: "matched ignoring white space and typographic characters",
    Strategy.INDENTATION_FLEXIBLE: "matched ignoring indentation",
    Strategy.ESCAPE_NORMALIZED: "matched after line numbers, escapes or fences were removed",
    Strategy.TRIMMED_BOUNDARY: "matched without the blank lines around it",
    Strategy.CONTEXT_AWARE: "matched by most of its lines; others differ",
    Strategy.MULTI_OCCURRENCE: "matched exactly, every occurrence",
}


class Tier(IntEnum):
    """How lenient a comparison was."""

    LITERAL = 0
    EXACT = 1
    TRAILING = 2
    SHIFTED = 3
    TRIMMED = 4
    PUNCTUATION = 5
    SPACELESS = 6
    NARROW = 7
    APPROXIMATE = 8


LENIENT = tuple(tier for tier in Tier if tier is not Tier.APPROXIMATE)
STRATEGIES = {
    Tier.LITERAL: Strategy.EXACT,
    Tier.EXACT: Strategy.EXACT,
    Tier.TRAILING: Strategy.WHITESPACE_NORMALIZED,
    Tier.SHIFTED: Strategy.INDENTATION_FLEXIBLE,
    Tier.TRIMMED: Strategy.LINE_TRIMMED,
    Tier.PUNCTUATION: Strategy.WHITESPACE_NORMALIZED,
    Tier.SPACELESS: Strategy.WHITESPACE_NORMALIZED,
    Tier.NARROW: Strategy.WHITESPACE_NORMALIZED,
}
_FOLDS: dict[Tier, Callable[[str], str]] = {
    Tier.EXACT: normalize.without_return,
    Tier.TRAILING: normalize.trailing,
    Tier.SHIFTED: normalize.trimmed,
    Tier.TRIMMED: normalize.trimmed,
    Tier.PUNCTUATION: normalize.punctuation,
    Tier.SPACELESS: normalize.spaceless,
    Tier.NARROW: normalize.narrow,
}


@dataclass(frozen=True, slots=True)
class Placement:
    """Where each line of the old side is in the file; None if the file has no such line."""

    rows: tuple[int | None, ...]
    start: int
    tier: Tier
    strategy: Strategy
    weak: frozenset[int] = frozenset()
    """Old lines whose place follows from their neighbors, not from their own text."""

    @property
    def end(self) -> int:
        return max((row for row in self.rows if row is not None), default=self.start - 1) + 1


class SearchableFile:
    """A file prepared for many searches."""

    def __init__(self, lines: FileLines) -> None:
        self.lines = lines
        self._texts: dict[Tier, LineText] = {}

    def text_of(self, tier: Tier) -> LineText:
        if tier not in self._texts:
            self._texts[tier] = LineText(self._folded(tier))
        return self._texts[tier]

    def _folded(self, tier: Tier) -> Sequence[str]:
        match tier:
            case Tier.SPACELESS:
                return self.spaceless
            case Tier.NARROW:
                return normalize.narrow_lines(self.lines.seen)
            case Tier.LITERAL:
                return self.lines.literal
            case _:
                return [_FOLDS[tier](line) for line in self.lines.seen]

    def starts(self, tier: Tier, wanted: list[str], most: int) -> list[int]:
        """Return where the wanted lines begin, folded as the tier compares them."""
        if tier is Tier.NARROW:
            return self.text_of(tier).places(wanted, most)
        # Whatever a tier finds is equal without blanks, so only one text has to be searched.
        keys = normalize.spaceless_lines(wanted)
        found = self.text_of(Tier.SPACELESS).places(keys, most)
        if tier is Tier.SPACELESS:
            return found
        if len(found) >= most:
            return self.text_of(tier).places(wanted, most)
        fold_line = _FOLDS.get(tier)
        lines = self.lines.seen if fold_line else self.lines.literal
        return [
            start
            for start in found
            if all(
                (fold_line(line) if fold_line else line) == text
                for line, text in zip(lines[start : start + len(wanted)], wanted, strict=True)
            )
        ]

    @cached_property
    def spaceless(self) -> list[str]:
        return normalize.spaceless_lines(self.lines.seen)

    @cached_property
    def present(self) -> frozenset[str]:
        return frozenset(self.spaceless)

    @cached_property
    def line_set(self) -> frozenset[str]:
        return frozenset(self.lines.seen)


def places_by_tier(file: SearchableFile, script: Script, tiers: tuple[Tier, ...]) -> list[Placement]:
    """Return all places of the old side at the first tier that finds any."""
    if not script.old:
        return []
    for tier in tiers:
        if tier > Tier.EXACT and script.significant < FEWEST_CHARACTERS:
            return []
        if found := _places(file, script, tier):
            return found
    return []


def _places(file: SearchableFile, script: Script, tier: Tier) -> list[Placement]:
    fold_line = _FOLDS.get(tier)
    wanted = [fold_line(text) for text in script.old] if fold_line else list(script.old)
    most = _MOST_PLACES if len(wanted) < _LONG else _MOST_LONG_PLACES
    starts = file.starts(tier, wanted, most)
    if tier is Tier.SHIFTED:
        starts = [start for start in starts if _is_shifted(file, script, start)]
    size = len(script.old)
    return [Placement(tuple(range(start, start + size)), start, tier, STRATEGIES[tier]) for start in starts]


def _is_shifted(file: SearchableFile, script: Script, start: int) -> bool:
    """Return whether the lines differ only by their indentation, all by the same rule."""
    seen = file.lines.seen[start : start + len(script.old)]
    pairs = {
        (normalize.lead(old), normalize.lead(line))
        for old, line in zip(script.old, seen, strict=True)
        if old.strip()
    }
    return Indentation.learn(pairs).is_uniform


_SURE = (Tier.LITERAL, Tier.EXACT, Tier.TRAILING, Tier.SHIFTED)


def is_applied(file: SearchableFile, script: Script) -> bool:
    """Return whether the new side is in the file; only asked if the old side is not."""
    new = _as_old(script)
    return new.significant >= FEWEST_CHARACTERS and bool(places_by_tier(file, new, _SURE))


def is_likelier_applied(file: SearchableFile, script: Script, place: Placement) -> bool:
    """Return whether the file has the new side exactly, while the old side was only matched leniently."""
    new = _as_old(script)
    if place.tier <= Tier.EXACT or new.significant < FEWEST_CHARACTERS:
        return False
    found = places_by_tier(file, new, (Tier.EXACT,))
    # If lines are only removed, the rest is in the file anyway; it counts only in another place.
    return any(len(script.new) >= len(script.old) or not _overlap(other, place) for other in found)


_FEWEST_ADDED = 8
"""Letters and digits. Lines with fewer, such as closing brackets and tags, may well be added twice."""


def is_added_at(file: SearchableFile, script: Script, place: Placement, end: int) -> bool:
    """Return whether lines that the script adds are already around the place, perhaps with other blanks."""
    added = sum(sum(map(str.isalnum, line.text)) for line in script.lines if line.mark is Mark.ADD)
    if not script.only_adds or added < _FEWEST_ADDED:
        return False
    new = _as_old(script)
    return any(
        other.start <= place.start and end <= other.end
        for tier in LENIENT
        for other in _places(file, new, tier)
    )


_AROUND = 8


def is_added_near(file: SearchableFile, script: Script, place: Placement) -> bool:
    """Return whether lines that the script only adds are already near a place found by most lines."""
    for group, lines in groupby(script.lines, key=lambda line: line.mark):
        added = [line.text for line in lines if group is Mark.ADD and line.text.strip()]
        if not script.only_adds or sum(map(str.isalnum, "".join(added))) < _FEWEST_ADDED:
            continue
        near = range(place.start - len(script.new) - _AROUND, place.end + len(script.new) + _AROUND)
        keys = [normalize.spaceless(text) for text in added]
        rows = [row for row in near if 0 <= row < len(file.spaceless) and file.spaceless[row]]
        present = [file.spaceless[row] for row in rows]
        if any(present[at : at + len(keys)] == keys for at in range(len(present))):
            return True
    return False


def _overlap(one: Placement, other: Placement) -> bool:
    return one.start < other.end and other.start < one.end


def _as_old(script: Script) -> Script:
    return Script(tuple(ScriptLine(Mark.KEEP, text) for text in script.new))
