"""Regular expressions over names with bounded time: a bad one must not freeze the screen.

`re` tries one way after another. Some expressions have endlessly many, and nothing can interrupt it. Here all
ways are followed at once, so that the work is bounded by expression and name.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

LONGEST_NAME = 200
MOST_STEPS = 500
_MOST_TIMES = 100
_DEEPEST = 20
_ATOM = re.compile(r"\\[dDwWsS]|\\[^a-zA-Z0-9]|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\\[(){}*+?|^$]")
_TIMES = re.compile(r"([*+?])|\{(?=[\d,])(\d*)(,?)(\d*)\}")
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>)?(?!\?)")
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_NOT_HERE = "only characters, sets, groups, |, * + ? {{}}, ^ and $ are supported here, not {!r}"


@dataclass(frozen=True, slots=True)
class _One:
    """Continues after one matching character."""

    fits: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class _Edge:
    is_start: bool


@dataclass(slots=True)
class _Fork:
    """Continues at each of these steps."""

    ways: list[int]


_Code = list[_One | _Edge | _Fork]
_Emit = Callable[[_Code], None]


@dataclass(frozen=True, slots=True)
class NamePattern:
    code: _Code = field(repr=False)

    def covers(self, name: str) -> bool:
        """Return whether the pattern matches the whole name.

        A name longer than any of ours counts as a match.
        """
        if len(name) > LONGEST_NAME:
            return True
        places = self._reached({0}, name, 0)
        for at, character in enumerate(name):
            nexts = {place + 1 for place, one in self._ones(places) if one.fits.match(character)}
            places = self._reached(nexts, name, at + 1)
        return len(self.code) in places

    def _ones(self, places: set[int]) -> Iterator[tuple[int, _One]]:
        for place in places:
            if place < len(self.code) and isinstance(step := self.code[place], _One):
                yield place, step

    def _reached(self, begin: set[int], name: str, at: int) -> set[int]:
        """Return all steps that can be reached without another character."""
        found, left = set[int](), list(begin)
        while left:
            place = left.pop()
            if place in found:
                continue
            found.add(place)
            match self.code[place] if place < len(self.code) else None:
                case _Fork(ways):
                    left += ways
                case _Edge(is_start) if at == (0 if is_start else len(name)):
                    left.append(place + 1)
                case _:
                    pass
        return found


@lru_cache(maxsize=256)
def name_pattern(text: str) -> NamePattern:
    """Compile a pattern. Raises `ValueError` with the reason if it is invalid."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"is not a valid regular expression: {error}") from error
    reader = _Reader(text)
    whole = reader.choice(0)
    if reader.at < len(text):
        raise ValueError(_NOT_HERE.format(text[reader.at :][:10]))
    code: _Code = []
    whole(code)
    return NamePattern(code)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def choice(self, depth: int) -> _Emit:
        if depth > _DEEPEST:
            raise ValueError("has too many nested groups")
        ways = [self._row(depth)]
        while self._text.startswith("|", self.at):
            self.at += 1
            ways.append(self._row(depth))
        return ways[0] if len(ways) == 1 else lambda code: _emit_choice(code, ways)

    def _row(self, depth: int) -> _Emit:
        parts: list[_Emit] = []
        while self.at < len(self._text) and self._text[self.at] not in "|)":
            parts.append(self._times(self._part(depth)))

        def emit(code: _Code) -> None:
            for part in parts:
                part(code)

        return emit

    def _part(self, depth: int) -> _Emit:
        text = self._text
        if group := _GROUP.match(text, self.at):
            self.at = group.end()
            inner = self.choice(depth + 1)
            self.at += 1  # `re` has checked that it is closed
            return inner
        if text[self.at] in "^$":
            edge = _Edge(text[self.at] == "^")
            self.at += 1
            return lambda code: _add(code, edge)
        if atom := _ATOM.match(text, self.at):
            self.at = atom.end()
            one = _One(re.compile(atom[0]))
            return lambda code: _add(code, one)
        raise ValueError(_NOT_HERE.format(text[self.at :][:10]))

    def _times(self, part: _Emit) -> _Emit:
        found = _TIMES.match(self._text, self.at)
        if found is None:
            return part
        self.at = found.end()
        if self._text.startswith("?", self.at):
            self.at += 1  # lazy or not makes no difference for a full match
        if found[1]:
            least, most = _SIGNS[found[1]]
        else:
            least = int(found[2] or 0)
            most = (int(found[4]) if found[4] else None) if found[3] else least
        if max(least, most or 0) > _MOST_TIMES:
            raise ValueError(f"repeats something more than {_MOST_TIMES} times")
        return lambda code: _emit_times(code, part, least, most)


def _add(code: _Code, step: _One | _Edge | _Fork) -> None:
    if len(code) >= MOST_STEPS:
        raise ValueError("is too long, or repeats too much")
    code.append(step)


def _emit_choice(code: _Code, ways: list[_Emit]) -> None:
    start, ends = _Fork([]), list[_Fork]()
    _add(code, start)
    for way in ways:
        start.ways.append(len(code))
        way(code)
        ends.append(_Fork([]))
        _add(code, ends[-1])
    for end in ends:
        end.ways.append(len(code))


def _emit_times(code: _Code, part: _Emit, least: int, most: int | None) -> None:
    for _ in range(least):
        # A step for each, so that repeating nothing also ends.
        _add(code, _Fork([len(code) + 1]))
        part(code)
    if most is None:
        start = _Fork([len(code) + 1])
        back = _Fork([len(code)])
        _add(code, start)
        part(code)
        _add(code, back)
        start.ways.append(len(code))
        return
    doors: list[_Fork] = []
    for _ in range(most - least):
        doors.append(_Fork([len(code) + 1]))
        _add(code, doors[-1])
        part(code)
    for door in doors:
        door.ways.append(len(code))
