"""The known problems of one file on disk, by server, and which of them are new since a change."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from coder_tui.diffs.compare import Run, matching_runs, outer_runs
from coder_tui.lsp.document import line_at, lines_of
from coder_tui.lsp.report import Report, merge_duplicates
from coder_tui.lsp.wire import Finding
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus

# Some messages contain the numbers of other lines, which move as well.
_NUMBER = re.compile(r"\b\d+\b")
_MOST_CHANGED = 1_000
"""Lines from the first change to the last; beyond that matching lines would take noticeably long."""
_KeyOf = Callable[[Diagnostic], Hashable]


def compare(
    before: tuple[Diagnostic, ...], old_text: str, after: tuple[Diagnostic, ...], new_text: str
) -> Report:
    """Compare problems by message and line: the same line wherever it is now, else one with the same text."""
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
    """Remove pairs with the same key from both sides."""
    waiting: dict[Hashable, list[int]] = {}
    for number, item in old.items():
        waiting.setdefault(old_key(item), []).append(number)
    for number, item in tuple(new.items()):
        if numbers := waiting.get(new_key(item)):
            del old[numbers.pop(0)], new[number]


def _bare_lines(text: str) -> list[str]:
    return [line.strip() for line in lines_of(text)]


def _places(old: list[str], new: list[str]) -> dict[int, int]:
    """Map each old line number to its new one, from 1."""
    runs = outer_runs(old, new)
    shared = sum(run.length for run in runs)
    if max(len(old), len(new)) - shared <= _MOST_CHANGED:
        runs = _slid_up(matching_runs(old, new), old, new)
    return {run.old + n: run.new + n for run in runs for n in range(1, run.length + 1)}


def _slid_up(runs: list[Run], old: list[str], new: list[str]) -> list[Run]:
    """Shift runs so that of several equal adjacent lines the last counts as added, as people write."""
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


Items = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The problems that one server reported for one text."""

    text: str
    items: Items


@dataclass(frozen=True, slots=True)
class _Marks:
    """A cached comparison of `known` with `base`: comparing large texts is slow."""

    base: Snapshot
    known: Snapshot
    items: Items


@dataclass(slots=True)
class FileState:
    """The state of one file; `shown` is its display name. A recreated file gets a new state."""

    path: Path
    shown: str
    text: str = ""
    """The text on disk; the last reports may be about an earlier one."""
    by_server: dict[str, Snapshot] = field(default_factory=dict)
    awaited: dict[str, Snapshot | None] = field(default_factory=dict)
    """Servers that did not report on the last edits in time, and what they reported before."""
    base: dict[str, Snapshot] = field(default_factory=dict)
    """What was there when the turn began, if known."""
    published: Items = ()
    """What was published last."""
    marks: dict[str, _Marks] = field(default_factory=dict)

    @property
    def items(self) -> Items:
        """The problems by line, marked as new if they were not there when the turn began."""
        found = [item for key, known in self.by_server.items() for item in self._marked(key, known)]
        return merge_duplicates(
            sorted(found, key=lambda item: (item.line, item.character, item.source.casefold()))
        )

    @property
    def is_worth_keeping(self) -> bool:
        """Whether the state holds more than a text, which servers could simply be shown again."""
        return bool(self.awaited) or any(known.items for known in self.by_server.values())

    @property
    def count_of_doubles(self) -> int:
        """How many findings repeat another server's finding."""
        return sum(len(known.items) for known in self.by_server.values()) - len(self.items)

    def known_of(self, key: str, text: str | None) -> Snapshot | None:
        """Return what a server reported on this text, or its last report if `text` is None."""
        known = self.by_server.get(key)
        return known if known is not None and text in {None, known.text} else None

    def before_edit(self, key: str, old_text: str | None) -> Snapshot | None:
        """Return the report before an edit of this text, or before the edits that are still unanswered."""
        known = self.known_of(key, old_text)
        return self.awaited.get(key) if known is None and self.text == old_text else known

    def mark_turn_start(self) -> None:
        """Mark all present problems as old: a turn begins."""
        self.base = dict(self.by_server)

    def set_baselines(self, baselines: Mapping[str, Snapshot | None]) -> None:
        """Set what was there before the turn's first change, for servers without a baseline."""
        for key, before in baselines.items():
            if before is not None:
                self.base.setdefault(key, before)

    def changed_by_others(self, text: str) -> None:
        """Note a change by something else: pending reports will no longer be about our edits alone."""
        if text != self.text:
            self.text = text
            self.awaited = dict.fromkeys(self.awaited)

    def record(self, key: str, found: Iterable[Finding]) -> Snapshot:
        """Record a server's report on the text on disk."""
        known = self.by_server[key] = Snapshot(self.text, diagnostics(self.shown, found))
        return known

    def settle(self, key: str, found: Iterable[Finding]) -> Report | None:
        """Record a server's report; if a change waited for it, return what the change did."""
        known = self.record(key, found)
        return compare_snapshots(self.awaited.pop(key), known) if key in self.awaited else None

    def _marked(self, key: str, known: Snapshot) -> Items:
        base = self.base.get(key)
        if base is None or base is known:
            return known.items
        marks = self.marks.get(key)
        if marks is None or marks.base is not base or marks.known is not known:
            report = compare_snapshots(base, known)
            marks = self.marks[key] = _Marks(base, known, (*report.introduced, *report.remaining))
        return marks.items


def diagnostics(shown: str, found: Iterable[Finding]) -> Items:
    """Convert findings to diagnostics, which count from 1."""
    return tuple(
        Diagnostic(
            shown, item.line + 1, item.character + 1, item.severity, item.message, item.code, item.source
        )
        for item in found
    )


def compare_snapshots(before: Snapshot | None, after: Snapshot) -> Report:
    if before is None:
        return Report(ServerStatus.FRESH, remaining=after.items, is_compared=False)
    return compare(before.items, before.text, after.items, after.text)
