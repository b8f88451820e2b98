"""The chain that finds the place an edit means: from exact text to most of its lines, or a refusal.

Tells whether a change has been made before, so that it is not made twice.
"""

from collections.abc import Iterator
from dataclasses import replace as with_fields

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.approximate import approximate_places
from coder_tui.tools.editing.exact import replace_exact
from coder_tui.tools.editing.nearest import nearest_region
from coder_tui.tools.editing.outcome import Replaced, Strategy, several_places
from coder_tui.tools.editing.script import FileLines, Mark, Script, ScriptLine, to_line_feeds
from coder_tui.tools.editing.splice import joined, splice
from coder_tui.tools.editing.strip_wrappers import Reading, readings, without_blank_edges
from coder_tui.tools.editing.tiers import LENIENT, TELLING, Placement, Searched, Tier, places_by_tier
from coder_tui.workspace.files.text import TextFile

_SURE = (Tier.LITERAL, Tier.EXACT, Tier.TRAILING, Tier.SHIFTED)


def is_applied(file: Searched, script: Script) -> bool:
    """Whether the new side is in the file; asked only when the old side is not."""
    new = _as_old(script)
    return new.significant >= TELLING and bool(places_by_tier(file, new, _SURE))


def is_likelier_applied(file: Searched, script: Script, place: Placement) -> bool:
    """Whether the new side is in the file exactly, while the old side was found by forgiving something."""
    new = _as_old(script)
    if place.tier <= Tier.EXACT or new.significant < TELLING:
        return False
    found = places_by_tier(file, new, (Tier.EXACT,))
    # Where lines only go, what stays is in the file anyway; it says something only in another place.
    return any(len(script.new) >= len(script.old) or not _overlap(other, place) for other in found)


def _overlap(one: Placement, other: Placement) -> bool:
    return one.start < other.end and other.start < one.end


def _as_old(script: Script) -> Script:
    return Script(tuple(ScriptLine(Mark.KEEP, text) for text in script.new))


_LONGEST = 1_000_000
"""Characters: what is longer is taken only as it is."""


def replace_text(file: TextFile, name: str, old: str, new: str, *, replace_all: bool) -> Replaced:
    """Replace `old` at the one place it surely means; `ToolError` says why there is none."""
    exact = replace_exact(file, old, new, replace_all=replace_all)
    if exact and exact.text == file.text:
        raise _applied(name)
    if exact and (not exact.splits_lead or len(old) + len(new) > _LONGEST):
        return exact
    given = Reading(to_line_feeds(old), to_line_feeds(new))
    search = _Search(file, name, given, replace_all=replace_all)
    # With half of its indentation missing the text may as well mean other lines.
    return search.by_lines(given) or exact if exact else search.run()


class _Search:
    """Goes from the likeliest reading of the two strings to the least."""

    def __init__(self, file: TextFile, name: str, given: Reading, *, replace_all: bool) -> None:
        self._file = file
        self._name = name
        self._given = given
        self._replace_all = replace_all
        self._searched = Searched(FileLines.of(file))
        self._scripts: dict[Reading, Script] = {}

    def run(self) -> Replaced:
        for reading in self._readings():
            if replaced := self._by_text(reading) or self.by_lines(reading):
                return replaced
        for reading in self._readings():
            if is_applied(self._searched, self._script(reading)):
                raise _applied(self._name)
        for reading in self._readings():
            if replaced := self._by_most_lines(reading):
                return replaced
        raise self._not_found()

    def _readings(self) -> Iterator[Reading]:
        """As given, without blank edges, and with what models wrap around text taken off."""
        given = self._given
        if len(given.old) + len(given.new) > _LONGEST:
            return
        for reading in (given, *readings(given.old, given.new)):
            yield reading
            if bare := without_blank_edges(reading.old, reading.new):
                strategy = reading.strategy or bare.strategy
                yield with_fields(bare, strategy=strategy, is_numbered=reading.is_numbered)

    def _script(self, reading: Reading) -> Script:
        if reading not in self._scripts:
            self._scripts[reading] = _script(reading)
        return self._scripts[reading]

    def _by_text(self, reading: Reading) -> Replaced | None:
        """Other readings may be pieces of lines, too."""
        if reading.strategy is None or reading.is_numbered:
            return None
        found = replace_exact(self._file, reading.old, reading.new, replace_all=self._replace_all)
        return found and with_fields(found, strategy=reading.strategy)

    def by_lines(self, reading: Reading) -> Replaced | None:
        script = self._script(reading)
        places = places_by_tier(self._searched, script, LENIENT)
        if len(places) > 1 and not self._replace_all:
            raise _several(places)
        if places and is_likelier_applied(self._searched, script, places[0]):
            raise _applied(self._name)
        return self._made(reading, script, _apart(places))

    def _by_most_lines(self, reading: Reading) -> Replaced | None:
        script = self._script(reading)
        places = approximate_places(self._searched, script)
        if len(places) > 1:
            raise _several(places)
        return self._made(reading, script, places)

    def _made(self, reading: Reading, script: Script, places: list[Placement]) -> Replaced | None:
        if not places:
            return None
        lines = self._searched.lines
        text = joined(lines, [splice(lines, script, place) for place in places])
        if text == self._file.text:
            raise _applied(self._name)
        first, last = places[0].start + 1, places[-1].end
        strategy = Strategy.MULTI_OCCURRENCE if self._replace_all else reading.strategy or places[0].strategy
        return Replaced(text, len(places), strategy, first, max(first, last))

    def _not_found(self) -> ToolError:
        nearest = nearest_region(self._searched.lines.seen, self._given.old)
        message = f"old_string is not in {self._name}. {nearest.sentence() if nearest else ''}".strip()
        return ToolError(ErrorType.NO_MATCH, message, "Read the place and copy it exactly.")


def _script(reading: Reading) -> Script:
    """The change in lines; a newline at the end of the old text ends its last line and starts no other."""
    old, new = reading.old.split("\n"), reading.new.split("\n")
    if len(old) > 1 and not old[-1]:
        old.pop()
        if not new[-1]:
            new.pop()
    return Script.between(old, [] if reading.new == "" else new)


def _apart(places: list[Placement]) -> list[Placement]:
    chosen: list[Placement] = []
    for place in places:
        if not chosen or place.start >= chosen[-1].end:
            chosen.append(place)
    return chosen


def _several(places: list[Placement]) -> ToolError:
    return several_places(sorted(place.start + 1 for place in places), f" ({places[0].strategy.meaning})")


def _applied(name: str) -> ToolError:
    message = f"{name} holds new_string already, and old_string not at all."
    return ToolError(ErrorType.ALREADY_APPLIED, message, "Read the file; the edit may be done.")
