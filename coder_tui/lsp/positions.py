"""Places in a text, between characters as people count them and the units that a server counts."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum
from itertools import accumulate

# The only line ends of the protocol; Python's own splitting knows more.
_LINE_END = re.compile(r"\r\n|\n|\r")
# What lies behind it takes two units of UTF-16.
_LAST_OF_TWO_BYTES = "\uffff"


class PositionEncoding(StrEnum):
    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


def lines_of(text: str) -> list[str]:
    """The lines without their ends; a text that ends with a line break has an empty last line."""
    return _LINE_END.split(text)


def to_units(line: str, character: int, encoding: PositionEncoding) -> int:
    """Characters to units; what lies past the end becomes the end."""
    head = line[: max(character, 0)]
    match encoding:
        case PositionEncoding.UTF32:
            return len(head)
        case PositionEncoding.UTF16:
            return len(head) + sum(char > _LAST_OF_TWO_BYTES for char in head)
        case PositionEncoding.UTF8:
            return len(head.encode("utf-8", "surrogatepass"))


class Ruler:
    """Units to characters in one text: a line is counted through once, not for every place in it."""

    def __init__(self, text: str, encoding: PositionEncoding) -> None:
        self._lines = lines_of(text)
        self._encoding = encoding
        self._ends: dict[int, list[int]] = {}

    def line(self, number: int) -> str:
        return line_at(self._lines, number)

    def characters(self, number: int, units: int) -> int:
        """A place inside of a character is its beginning, one past the end the end."""
        line = self.line(number)
        if self._encoding is PositionEncoding.UTF32 or line.isascii():
            return min(max(units, 0), len(line))
        ends = self._ends.get(number)
        if ends is None:
            ends = self._ends[number] = list(accumulate(_widths(line, self._encoding)))
        return bisect_right(ends, units)


def _widths(line: str, encoding: PositionEncoding) -> Iterator[int]:
    if encoding is PositionEncoding.UTF16:
        return (1 + (char > _LAST_OF_TWO_BYTES) for char in line)
    return (len(char.encode("utf-8", "surrogatepass")) for char in line)


def line_at(lines: list[str], number: int) -> str:
    return lines[number] if 0 <= number < len(lines) else ""
