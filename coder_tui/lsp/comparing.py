"""Tells which problems of a text were there before it changed."""

import re
from collections.abc import Callable, Hashable
from dataclasses import replace

from coder_tui.diffs.line_match import Run, matching_runs, outer_runs
from coder_tui.lsp.positions import line_at, lines_of
from coder_tui.lsp.report import Report
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus

# Some messages name other lines, which move as well.
_NUMBER = re.compile(r"\b\d+\b")
_MOST_CHANGED = 1_000
"""Lines from the first change to the last: in more of them places are not looked for, which would be felt."""
_KeyOf = Callable[[Diagnostic], Hashable]


def compare(
    before: tuple[Diagnostic, ...], old_text: str, after: tuple[Diagnostic, ...], new_text: str
) -> Report:
    """By what is said of a line: of the same one, wherever it is now, or else of one with the same text."""
    gone, new = dict(enumerate(before)), dict(enumerate(after))
    if before and after:
        old_lines, new_lines = _bare_lines(old_text), _bare_lines(new_text)
        now_at = _places(old_lines, new_lines)
        _take_pairs(gone, _by_place(now_at.get), new, _by_place(lambda line: line))
        _take_pairs(gone, _by_line(old_lines), new, _by_line(new_lines))
    return Report(
        ServerStatus.FRESH,
        tuple(replace(item, is_new=True) for item in new.values()),
        tuple(gone.values()),
        tuple(item for number, item in enumerate(after) if number not in new),
    )


def _said(item: Diagnostic) -> tuple[str, str, str]:
    return item.source, item.code, _NUMBER.sub("", item.message)


def _by_place(place_of: Callable[[int], int | None]) -> _KeyOf:
    return lambda item: (place_of(item.line), *_said(item))


def _by_line(lines: list[str]) -> _KeyOf:
    return lambda item: (line_at(lines, item.line - 1), *_said(item))


def _take_pairs(
    old: dict[int, Diagnostic], old_key: _KeyOf, new: dict[int, Diagnostic], new_key: _KeyOf
) -> None:
    """Those that have the same key, each with one of the other side, are on neither side any more."""
    waiting: dict[Hashable, list[int]] = {}
    for number, item in old.items():
        waiting.setdefault(old_key(item), []).append(number)
    for number, item in tuple(new.items()):
        if numbers := waiting.get(new_key(item)):
            del old[numbers.pop(0)], new[number]


def _bare_lines(text: str) -> list[str]:
    return [line.strip() for line in lines_of(text)]


def _places(old: list[str], new: list[str]) -> dict[int, int]:
    """Where each line is now; from 1."""
    runs = outer_runs(old, new)
    shared = sum(run.length for run in runs)
    if max(len(old), len(new)) - shared <= _MOST_CHANGED:
        runs = _slid_up(matching_runs(old, new), old, new)
    return {run.old + n: run.new + n for run in runs for n in range(1, run.length + 1)}


def _slid_up(runs: list[Run], old: list[str], new: list[str]) -> list[Run]:
    """Of equal lines that were added one below the other, the last is the new one, as people write."""
    slid: list[Run] = []
    for run in runs:
        moved = 0
        if slid and slid[-1].old + slid[-1].length == run.old:
            last = slid.pop()
            end = last.new + last.length
            while moved < run.length and new[end + moved] == old[run.old + moved]:
                moved += 1
            slid.append(Run(last.old, last.new, last.length + moved))
        slid.append(Run(run.old + moved, run.new + moved, run.length - moved))
    return slid
