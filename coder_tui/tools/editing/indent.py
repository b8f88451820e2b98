"""Learns from matched lines how the model's indentation stands for the file's, and carries it over."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

_TAB_WIDTHS = (4, 2, 8, 3)

Pair = tuple[str, str]
"""The model's lead and the file's lead of one matched line."""
Shift = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Indentation:
    """What was learned: leads seen with one meaning, and a rule that explains all of them, if any does."""

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
        """Whether one rule explains every line."""
        return self.rule is not None

    def carry(self, lead: str) -> str | None:
        """The file's lead for a line of the model; None when the matched lines do not tell."""
        if lead in self.known:
            return self.known[lead]
        return self.rule(lead) if self.rule else None


def _rule(pairs: list[Pair]) -> Shift | None:
    """The simplest rule that fits: the same, a prefix more or less, other tabs, other steps."""
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
            # A line with less than that stood at the edge already.
            return lambda lead: lead[len(less) :] if lead.startswith(less) else ""
    return None


def _tab_rule(pairs: list[Pair]) -> Shift | None:
    """Tabs for spaces or the reverse, perhaps shifted as a whole."""
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
    def carry(lead: str) -> str | None:
        columns = _columns(lead, width) + shift
        if columns < 0:
            return None
        return "\t" * (columns // width) + " " * (columns % width) if uses_tabs else " " * columns

    return carry


def _columns(lead: str, width: int) -> int:
    return len(lead.expandtabs(width))


def _step_rule(pairs: list[Pair]) -> Shift | None:
    """Steps of another size, as when two spaces stand for four: told from two leads at least."""
    characters = set("".join(file for _, file in pairs))
    if len(pairs) < 2 or len(characters) != 1:
        return None
    (first_model, first_file), (last_model, last_file) = pairs[0], pairs[-1]
    if len(first_model) == len(last_model):
        return None
    step = Fraction(len(last_file) - len(first_file), len(last_model) - len(first_model))
    character = characters.pop()

    def carry(lead: str) -> str | None:
        size = len(first_file) + step * (len(lead) - len(first_model))
        return character * int(size) if size >= 0 and size.denominator == 1 else None

    return carry if step > 0 and all(carry(model) == file for model, file in pairs) else None
