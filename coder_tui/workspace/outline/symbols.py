"""What is known of one file: what it defines, and which names it uses."""

import re
from dataclasses import dataclass

LONGEST_SIGNATURE = 160
_SPACE = re.compile(r"\s+")
_OPENING = re.compile(r"(?:\s|[{;:]|=>?)+$")


@dataclass(frozen=True, slots=True)
class Symbol:
    """`level` counts the symbols around it; lines count from 1; a name that others cannot use is empty."""

    name: str
    signature: str
    line: int
    level: int


@dataclass(frozen=True, slots=True)
class FileSymbols:
    symbols: tuple[Symbol, ...] = ()
    references: tuple[tuple[str, int], ...] = ()
    """Names that occur, with how often."""


Wire = tuple[list[tuple[str, str, int, int]], list[tuple[str, int]]]
"""How it travels and is kept: plain lists."""


def to_wire(file: FileSymbols) -> Wire:
    return [(s.name, s.signature, s.line, s.level) for s in file.symbols], list(file.references)


def from_wire(wire: Wire) -> FileSymbols:
    symbols, references = wire
    return FileSymbols(
        tuple(Symbol(*fields) for fields in symbols), tuple((name, count) for name, count in references)
    )


def tidy(signature: str) -> str:
    """One line without what only opens a body."""
    text = _OPENING.sub("", _SPACE.sub(" ", signature).strip())
    return text if len(text) <= LONGEST_SIGNATURE else text[:LONGEST_SIGNATURE] + " […]"
