"""Unified diffs of one file's change, for models and people."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from coder_tui.diffs.compare import Run, matching_runs
from coder_tui.diffs.model import split_lines

DIFF_LIMIT = 50 * 1024
_CONTEXT = 3
_NO_NEWLINE = "\\ No newline at end of file\n"
_NEEDS_QUOTES = re.compile(r'[\x00-\x1f\x7f"\\]')


@dataclass(frozen=True, slots=True)
class FileDiff:
    text: str
    additions: int
    deletions: int

    def cut(self, limit: int = DIFF_LIMIT) -> tuple[str, bool]:
        """Return at most `limit` bytes of whole lines, and whether anything is missing."""
        data = self.text.encode("utf-8", "replace")
        if len(data) <= limit:
            return self.text, False
        kept = data[: data.rfind(b"\n", 0, limit) + 1]
        return kept.decode("utf-8", "replace"), True


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines `old_start:old_end` become `new_start:new_end`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def unified_diff(path: str, old: str | None, new: str | None) -> FileDiff:
    """Compare two contents of `path`; None stands for no file."""
    old_lines, new_lines = split_lines(old or ""), split_lines(new or "")
    changes = _changes(matching_runs(old_lines, new_lines), len(old_lines), len(new_lines))
    pieces = [_header(path, old, new)] if changes or (old is None) != (new is None) else []
    for group in _groups(changes):
        pieces.extend(_hunk(group, old_lines, new_lines))
    additions = sum(change.new_end - change.new_start for change in changes)
    deletions = sum(change.old_end - change.old_start for change in changes)
    return FileDiff("".join(pieces), additions, deletions)


def _changes(runs: list[Run], old_size: int, new_size: int) -> list[_Change]:
    changes: list[_Change] = []
    old_at = new_at = 0
    for run in [*runs, Run(old_size, new_size, 0)]:
        if run.old > old_at or run.new > new_at:
            changes.append(_Change(old_at, run.old, new_at, run.new))
        old_at, new_at = run.old + run.length, run.new + run.length
    return changes


def _groups(changes: list[_Change]) -> list[list[_Change]]:
    """Changes whose context would touch share a hunk."""
    groups: list[list[_Change]] = []
    for change in changes:
        if groups and change.old_start - groups[-1][-1].old_end <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[_Change], old: list[str], new: list[str]) -> Iterator[str]:
    lead = min(_CONTEXT, group[0].old_start)
    old_start, new_start = group[0].old_start - lead, group[0].new_start - lead
    old_end = min(group[-1].old_end + _CONTEXT, len(old))
    new_end = group[-1].new_end + old_end - group[-1].old_end
    yield f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"
    at = old_start
    for change in group:
        yield from (_line(" ", line) for line in old[at : change.old_start])
        yield from (_line("-", line) for line in old[change.old_start : change.old_end])
        yield from (_line("+", line) for line in new[change.new_start : change.new_end])
        at = change.old_end
    yield from (_line(" ", line) for line in old[at:old_end])


def _range(start: int, end: int) -> str:
    count = end - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}"


def _header(path: str, old: str | None, new: str | None) -> str:
    old_name = "/dev/null" if old is None else _quoted(f"a/{path.lstrip('/')}")
    new_name = "/dev/null" if new is None else _quoted(f"b/{path.lstrip('/')}")
    return f"--- {old_name}\n+++ {new_name}\n"


def _quoted(name: str) -> str:
    """Quote a name as git does, so that it cannot pass for lines of the diff."""
    if not _NEEDS_QUOTES.search(name):
        return name
    return '"' + _NEEDS_QUOTES.sub(_escape, name) + '"'


def _escape(match: re.Match[str]) -> str:
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return named.get(match[0], f"\\{ord(match[0]):03o}")
