"""Syntax colours of a diff: each side is one text, so that strings over several lines come out right."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from coder_tui.diffs.model import Change, Comparison, Gap, Same, body_of
from coder_tui.diffs.rows import Side
from coder_tui.ui.diff.text import coloured_part
from coder_tui.ui.draw.code import CodeLine, code_lines, language_of
from coder_tui.ui.draw.palette import Palette

AT_ONCE = 1000
"""Lines that are coloured in one go, without a look at those before them."""

Colours: TypeAlias = Callable[[Side, int], CodeLine | None]
"""(side, line number) -> the line in colours, None where it has none yet."""

Bucket: TypeAlias = tuple[Side, int]
"""A side and which thousand of its lines."""


def no_colours(side: Side, number: int) -> CodeLine | None:
    return None


def coloured(lines: Sequence[str], language: str, palette: Palette) -> list[CodeLine]:
    """Lines of a file in colours; slow, and free of the screen, so that a thread can do it."""
    return code_lines("\n".join(coloured_part(body_of(line)) for line in lines), language, palette)


def all_colours(comparison: Comparison, palette: Palette) -> Colours:
    """For a diff that is short."""
    language = language_of(comparison.path or comparison.old_path)
    if not language:
        return no_colours
    found: dict[tuple[Side, int], CodeLine] = {}
    for side in (Side.OLD, Side.NEW):
        known = list(numbered(comparison, side))
        lines = coloured([line for _, line in known], language, palette) if known else []
        found.update({(side, number): line for (number, _), line in zip(known, lines, strict=True)})
    return lambda side, number: found.get((side, number))


def numbered(comparison: Comparison, side: Side) -> Iterator[tuple[int, str]]:
    """The known lines of one side with their numbers."""
    for section in comparison.sections:
        match section:
            case Gap():
                continue
            case Same(lines=lines):
                pass
            case Change(deleted=deleted, added=added):
                lines = deleted if side is Side.OLD else added
        start = section.old if side is Side.OLD else section.new
        yield from enumerate(lines, start + 1)


class LazyColours:
    """Colours that are made some lines at a time, where somebody looks."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._done: dict[Bucket, Mapping[int, CodeLine]] = {}
        self._asked: set[Bucket] = set()

    def __call__(self, side: Side, number: int) -> CodeLine | None:
        """The colours of a line; a line without is noted, to be made soon."""
        bucket = (side, number // AT_ONCE)
        lines = self._done.get(bucket)
        if lines is None:
            self._asked.add(bucket)
            return None
        return lines.get(number)

    @property
    def is_wanting(self) -> bool:
        return bool(self._asked)

    def forget(self) -> None:
        """Colours of another theme are of no use."""
        self._done.clear()
        self._asked.clear()

    def take(self) -> list[Bucket]:
        """What was looked at without colours since the last time."""
        asked, self._asked = sorted(self._asked), set()
        return asked

    def make(self, bucket: Bucket, palette: Palette) -> Mapping[int, CodeLine]:
        """For a thread; hand what it returns to `keep`."""
        side, part = bucket
        language = language_of(self._comparison.path or self._comparison.old_path)
        known = [(n, line) for n, line in numbered(self._comparison, side) if n // AT_ONCE == part]
        if not language or not known:
            return {}
        lines = coloured([line for _, line in known], language, palette)
        return {number: line for (number, _), line in zip(known, lines, strict=True)}

    def keep(self, bucket: Bucket, lines: Mapping[int, CodeLine]) -> None:
        self._done[bucket] = lines
