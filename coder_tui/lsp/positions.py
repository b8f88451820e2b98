"""Places in a text, between characters as people count them and the units that a server counts."""

import re
from enum import StrEnum

# The only line ends of the protocol; Python's own splitting knows more.
_LINE_END = re.compile(r"\r\n|\n|\r")
_ASTRAL = 0xFFFF


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
            return len(head) + sum(ord(char) > _ASTRAL for char in head)
        case PositionEncoding.UTF8:
            return len(head.encode("utf-8", "surrogatepass"))


def to_characters(line: str, units: int, encoding: PositionEncoding) -> int:
    """Units to characters; a place inside of a character is its beginning, one past the end the end."""
    if encoding is PositionEncoding.UTF32 or line.isascii():
        return min(max(units, 0), len(line))
    passed = 0
    for index, char in enumerate(line):
        passed += to_units(char, 1, encoding)
        if passed > units:
            return index
    return len(line)


def line_at(lines: list[str], number: int) -> str:
    return lines[number] if 0 <= number < len(lines) else ""
