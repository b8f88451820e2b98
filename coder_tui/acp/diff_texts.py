"""A diff as two texts, which is how editors want a change: whole files where the disk still fits it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from coder_tui.diffs.lines import split_lines
from coder_tui.diffs.model import Change, Comparison, FileState, Gap, Same, Section

LARGEST = 1_000_000
"""Bytes of a file that is sent whole, twice."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """`old` is None for a file that is new; `line` counts from 1."""

    path: Path
    old: str | None
    new: str
    line: int | None = None


def text_pairs(
    comparisons: Iterable[Comparison], directory: Path, *, is_done: bool, is_cut: bool = False
) -> tuple[TextPair, ...]:
    """Blocks. `is_done`: the disk has the new text. What is cut, or does not fit it, goes in pieces."""
    found: list[TextPair] = []
    for comparison in comparisons:
        name = comparison.path if is_done else comparison.old_path or comparison.path
        disk = None if is_cut else _lines_of(directory / name)
        found += _pairs(comparison, directory / comparison.path, disk, is_done=is_done)
    return tuple(found)


def _pairs(comparison: Comparison, file: Path, disk: list[str] | None, *, is_done: bool) -> list[TextPair]:
    line = next((change.new + 1 for change in comparison.changes), None)
    match comparison.state:
        case FileState.CREATED:
            return [TextPair(file, None, "".join(_side(comparison.sections, is_new=True)), line)]
        case FileState.DELETED:
            return [TextPair(file, "".join(_side(comparison.sections, is_new=False)), "", line)]
        case FileState.CHANGED | FileState.RENAMED:
            whole = _whole(comparison, disk, is_done=is_done) if disk is not None else None
            return [TextPair(file, *whole, line)] if whole else _pieces(comparison, file)
        case _:
            assert_never(comparison.state)


def _whole(comparison: Comparison, disk: list[str], *, is_done: bool) -> tuple[str, str] | None:
    """Both texts; None where the file is not what the diff was made from, or what it made."""
    other: list[str] = []
    at = 0
    for section in comparison.sections:
        start = section.new if is_done else section.old
        here = tuple(_side((section,), is_new=is_done))
        end = start + (section.count if isinstance(section, Gap) else len(here))
        if start < at or (here and tuple(disk[start:end]) != here):
            return None
        other += disk[at:start]
        other += disk[start:end] if isinstance(section, Gap) else _side((section,), is_new=not is_done)
        at = end
    other += disk[at:]
    known, made = "".join(disk), "".join(other)
    return (made, known) if is_done else (known, made)


def _pieces(comparison: Comparison, file: Path) -> list[TextPair]:
    """What the diff itself shows, one piece for each stretch of it."""
    pieces: list[TextPair] = []
    for stretch in _stretches(comparison.sections):
        old, new = ("".join(_side(stretch, is_new=is_new)) for is_new in (False, True))
        pieces.append(TextPair(file, old, new, stretch[0].new + 1))
    return pieces


def _stretches(sections: tuple[Section, ...]) -> Iterator[tuple[Section, ...]]:
    stretch: list[Section] = []
    for section in sections:
        if not isinstance(section, Gap):
            stretch.append(section)
        elif stretch:
            yield tuple(stretch)
            stretch = []
    if stretch:
        yield tuple(stretch)


def _side(sections: tuple[Section, ...], *, is_new: bool) -> Iterator[str]:
    for section in sections:
        match section:
            case Same(lines=lines):
                yield from lines
            case Change(deleted=deleted, added=added):
                yield from added if is_new else deleted
            case Gap():
                pass
            case _:
                assert_never(section)


def _lines_of(file: Path) -> list[str] | None:
    try:
        if file.stat().st_size > LARGEST:
            return None
        return split_lines(file.read_bytes().decode())
    except (OSError, ValueError):
        return None
