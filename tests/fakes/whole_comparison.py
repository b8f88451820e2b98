"""Fills in what a unified diff leaves out, once the file itself is at hand."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from coder_tui.diffs.compare import grouped
from coder_tui.protocol.comparison import Change, Comparison, Gap, Same, Section, split_lines


def completed(comparison: Comparison, new_text: str) -> Comparison:
    """The same with every line of the new file; raises `ValueError` for a text that does not fit."""
    lines = split_lines(new_text)
    sections = _joined(_known(comparison.sections, lines))
    if [line for section in sections for line in _new_lines(section)] != lines:
        raise ValueError("The diff does not belong to this text.")
    return replace(comparison, sections=sections, hunks=grouped(sections, comparison.path))


def _known(sections: Sequence[Section], lines: Sequence[str]) -> list[Same | Change]:
    known: list[Same | Change] = []
    old = new = 0
    for section in sections:
        match section:
            case Gap(count=count):
                known.append(Same(section.old, section.new, tuple(lines[section.new : section.new + count])))
                old, new = section.old + count, section.new + count
            case Same(lines=same):
                known.append(section)
                old, new = section.old + len(same), section.new + len(same)
            case Change(deleted=deleted, added=added):
                known.append(section)
                old, new = section.old + len(deleted), section.new + len(added)
    return [*known, Same(old, new, tuple(lines[new:]))]


def _joined(sections: Iterable[Same | Change]) -> tuple[Same | Change, ...]:
    """Equal lines in a row are one section, and none is empty."""
    joined: list[Same | Change] = []
    for section in sections:
        last = joined[-1] if joined else None
        if isinstance(last, Same) and isinstance(section, Same):
            joined[-1] = replace(last, lines=last.lines + section.lines)
        elif section.height:
            joined.append(section)
    return tuple(joined)


def _new_lines(section: Same | Change) -> tuple[str, ...]:
    return section.added if isinstance(section, Change) else section.lines
