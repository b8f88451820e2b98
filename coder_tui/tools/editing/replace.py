"""Find the place that an edit means, from exact text to most of its lines, or refuse."""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import replace as with_fields

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.tools.editing.approximate import approximate_places, rivals_as_indented
from coder_tui.tools.editing.intent import (
    Exchange,
    is_already_there,
    is_code,
    is_placeholder,
    lines_of,
    refuse_lost_indentation,
    refuse_numbers,
    refuse_placeholders,
    refuse_written_ends,
    whole_lines,
    without_signs,
)
from coder_tui.tools.editing.nearest import nearest_region
from coder_tui.tools.editing.script import (
    FileLines,
    LineFeedView,
    Mark,
    Script,
    changes_line_ends,
    newline_at,
    restore,
    to_line_feeds,
)
from coder_tui.tools.editing.splice import apply_splices, splice
from coder_tui.tools.editing.strip_wrappers import Reading, readings, without_blank_edges
from coder_tui.tools.editing.tiers import (
    LENIENT,
    Placement,
    SearchableFile,
    Strategy,
    Tier,
    is_added_at,
    is_added_near,
    is_applied,
    is_likelier_applied,
    places_by_tier,
)
from coder_tui.workspace.files.text import TextFile

_MOST_LINES_NAMED = 20


@dataclass(frozen=True, slots=True)
class Replacement:
    """`first_line` to `last_line` is where the old text was, counted from 1."""

    text: str
    replacements: int
    strategy: Strategy
    first_line: int
    last_line: int
    splits_lead: bool = False
    """Whether the old text begins inside a line's indentation, so that its own indentation is wrong."""


def ambiguous_match(lines: list[int], how: str = "") -> ToolError:
    """Return the error for a text that occurs in several places."""
    named = lines[:_MOST_LINES_NAMED]
    listed = ", ".join(str(line) for line in named) + (", …" if len(lines) > len(named) else "")
    return ToolError(
        ErrorType.AMBIGUOUS_MATCH,
        f"old_string occurs {len(lines)} times{how}, at lines {listed}.",
        "Add lines around it until it is unique, or set replace_all.",
        {"lines": named},
    )


_MOST_PLACES = 1_000


def as_meant(file: TextFile, name: str, old: str, new: str) -> tuple[str, str]:
    """Return the two strings without signs of a diff; raise if they may not be meant as they are."""
    if len(old) + len(new) > _LONGEST:
        return old, new
    new_lines = new.split("\n")
    if is_code(name):
        refuse_written_ends(old, new)
        refuse_numbers(old.split("\n"), new_lines, file.text)
    if "+" not in new and not any(map(is_placeholder, new_lines)):
        return old, new
    known = lines_of(file.text.split("\n"))
    if is_code(name):
        old, new = without_signs(old, new, known)
    refuse_placeholders(new.split("\n"), known | lines_of(old.split("\n")))
    if old == new:
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS,
            "invalid args: new_string: without its signs it is identical to old_string",
        )
    return old, new


def replace_exact(file: TextFile, old: str, new: str, *, replace_all: bool) -> Replacement | None:
    """Return the new text, or None if `old` does not occur.

    Raises if it occurs several times and one is meant.
    """
    view = LineFeedView.from_file(file)
    is_literal = changes_line_ends(old, new)
    old, new = to_line_feeds(old), new if is_literal else to_line_feeds(new)
    places = _places(view.text, old, overlapping=not replace_all)
    if not places:
        return None
    if len(places) > 1 and not replace_all:
        raise ambiguous_match([view.line(place) for place in places])
    if is_literal and file.text.startswith("\r", view.raw(places[0] + len(old))):
        new = new.removesuffix("\r")
    strategy = Strategy.MULTI_OCCURRENCE if replace_all else Strategy.EXACT
    last = view.line(places[-1] + max(len(old.removesuffix("\n")) - 1, 0))
    place = places[0]
    if not replace_all and is_already_there(view.text, place, old, new):
        raise _added()
    parts = [Exchange(place, place + len(old), new) for place in places]
    if not is_literal and not replace_all:
        if view.text[:place].endswith("\n") or not place:
            refuse_lost_indentation(old, new)
        parts = [whole_lines(view.text, places[0], old, new)]
    text = _spliced(file, view, parts, is_literal=is_literal)
    splits_lead = not replace_all and _splits_lead(view.text, places[0])
    return Replacement(text, len(places), strategy, view.line(places[0]), last, splits_lead)


def _splits_lead(text: str, place: int) -> bool:
    line_start = text.rfind("\n", 0, place) + 1
    return text[place] in " \t" and line_start < place and not text[line_start:place].strip(" \t")


def _spliced(file: TextFile, view: LineFeedView, parts: list[Exchange], *, is_literal: bool) -> str:
    """Replace the parts; what old and new share there is not touched."""
    pieces: list[str] = []
    done = 0
    for part in parts:
        old, new = view.text[part.start : part.end], part.new
        head = 0 if is_literal else _shared(old, new)
        tail = 0 if is_literal else _shared(old[head:][::-1], new[head:][::-1])
        start, end = view.raw(part.start + head), view.raw(part.end - tail)
        inserted = restore(file.text[start:end], new[head : len(new) - tail])
        if "\n" in inserted and not is_literal:
            inserted = inserted.replace("\n", newline_at(file, view.raw(part.start)))
        pieces += [file.text[done:start], inserted]
        done = end
    return "".join([*pieces, file.text[done:]])


def _places(text: str, old: str, *, overlapping: bool) -> list[int]:
    """Find `old`. Overlapping places count too if one is meant, but only some are needed to refuse them."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and not (overlapping and len(places) > _MOST_PLACES):
        places.append(at)
        at = text.find(old, at + (1 if overlapping else len(old)))
    return places


def _shared(one: str, other: str) -> int:
    length = min(len(one), len(other))
    low, high = 0, length
    while low < high:
        half = (low + high + 1) // 2
        if one[:half] == other[:half]:
            low = half
        else:
            high = half - 1
    return low


_LONGEST = 1_000_000
"""Characters. A longer text is only matched exactly."""


def replace_text(file: TextFile, name: str, old: str, new: str, *, replace_all: bool) -> Replacement:
    """Replace `old` at the one place it certainly means; the `ToolError` tells why there is none."""
    exact = replace_exact(file, old, new, replace_all=replace_all)
    if exact and exact.text == file.text:
        raise _applied(name)
    given = Reading(to_line_feeds(old), to_line_feeds(new))
    if exact and not replace_all and _is_added(file, _script(given), exact):
        raise _added()
    if exact and (not exact.splits_lead or len(old) + len(new) > _LONGEST):
        return exact
    search = _Search(file, name, given, replace_all=replace_all)
    # With half of its indentation missing, the text may mean other lines.
    return search.by_lines(given) or exact if exact else search.run()


def _is_added(file: TextFile, script: Script, exact: Replacement) -> bool:
    """Return whether lines that the edit only adds are already there, perhaps with other blanks."""
    if not script.only_adds:
        return False
    size = len(script.new)
    lines = FileLines.from_file(file)
    first = max(exact.first_line - 1 - size, 0)
    near = SearchableFile(FileLines(lines.raw[first : exact.last_line + size], lines.newline))
    start, end = exact.first_line - 1 - first, exact.last_line - first
    return is_added_at(near, script, Placement((), start, Tier.EXACT, Strategy.EXACT), end)


class _Search:
    """Tries the readings of the two strings from the most to the least likely."""

    def __init__(self, file: TextFile, name: str, given: Reading, *, replace_all: bool) -> None:
        self._file = file
        self._name = name
        self._given = given
        self._replace_all = replace_all
        self._searched = SearchableFile(FileLines.from_file(file))
        self._scripts: dict[Reading, Script] = {}

    def run(self) -> Replacement:
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
        """Yield the strings as given, without blank edges, and without what models wrap around text."""
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

    def _by_text(self, reading: Reading) -> Replacement | None:
        """Try other readings as parts of lines, too."""
        if reading.strategy is None or reading.is_numbered:
            return None
        found = replace_exact(self._file, reading.old, reading.new, replace_all=self._replace_all)
        return found and with_fields(found, strategy=reading.strategy)

    def by_lines(self, reading: Reading) -> Replacement | None:
        script = self._script(reading)
        places = places_by_tier(self._searched, script, LENIENT)
        if len(places) > 1 and not self._replace_all:
            raise _several(places)
        if places and is_likelier_applied(self._searched, script, places[0]):
            raise _applied(self._name)
        if len(places) == 1:
            places += rivals_as_indented(self._searched, script, places[0])
            if len(places) > 1:
                raise _several(places)
            if is_added_at(self._searched, script, places[0], places[0].end):
                raise _added()
        return self._made(reading, script, _apart(places))

    def _by_most_lines(self, reading: Reading) -> Replacement | None:
        script = self._script(reading)
        places = approximate_places(self._searched, script)
        if len(places) > 1:
            raise _several(places)
        if places and is_added_near(self._searched, script, places[0]):
            raise _added()
        return self._made(reading, script, places)

    def _made(self, reading: Reading, script: Script, places: list[Placement]) -> Replacement | None:
        if not places:
            return None
        lines = self._searched.lines
        added = [line.text for line in script.lines if line.mark is Mark.ADD]
        if is_code(self._name):
            refuse_numbers((), added, self._file.text)
        if any(map(is_placeholder, added)):
            refuse_placeholders(added, lines_of(lines.seen))
        text = apply_splices(lines, [splice(lines, script, place) for place in places])
        if text == self._file.text:
            raise _applied(self._name)
        first, last = places[0].start + 1, places[-1].end
        strategy = Strategy.MULTI_OCCURRENCE if self._replace_all else reading.strategy or places[0].strategy
        return Replacement(text, len(places), strategy, first, max(first, last))

    def _not_found(self) -> ToolError:
        nearest = nearest_region(self._searched.lines.seen, self._given.old)
        message = f"old_string is not in {self._name}. {nearest.sentence() if nearest else ''}".strip()
        return ToolError(ErrorType.NO_MATCH, message, "Read the place and copy it exactly.")


def _script(reading: Reading) -> Script:
    """Return the change in lines; a newline at the end of the old text ends its last line."""
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
    lines = sorted({place.start + 1 for place in places})
    if len(lines) > 1:
        return ambiguous_match(lines, f" ({places[0].strategy.meaning})")
    return ToolError(
        ErrorType.AMBIGUOUS_MATCH,
        f"old_string fits in more than one way at line {lines[0]} ({places[0].strategy.meaning}).",
        "Read the place and copy it exactly.",
        {"lines": lines},
    )


def _added() -> ToolError:
    message = "The file already has new_string at this place."
    return ToolError(ErrorType.ALREADY_APPLIED, message, "Read the file; the edit may already be done.")


def _applied(name: str) -> ToolError:
    message = f"{name} already contains new_string, and does not contain old_string."
    return ToolError(ErrorType.ALREADY_APPLIED, message, "Read the file; the edit may already be done.")
