"""What is known of one file's problems, by server, as its text on disk is.

Tells which problems of a text were there before it changed.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from coder_tui.diffs.compare import Run, matching_runs, outer_runs
from coder_tui.lsp.document import line_at, lines_of
from coder_tui.lsp.report import Report, merged
from coder_tui.lsp.wire import Found
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


Items = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one server said of one text."""

    text: str
    items: Items


@dataclass(frozen=True, slots=True)
class _Marks:
    """What of `known` is new since `base`: to compare large texts takes its time."""

    base: Snapshot
    known: Snapshot
    items: Items


@dataclass(slots=True)
class FileState:
    """`shown` is how the file is named in this session. A file that goes and comes again has another."""

    path: Path
    shown: str
    text: str = ""
    """As it is on disk; what servers said last may be about an earlier one."""
    by_server: dict[str, Snapshot] = field(default_factory=dict)
    awaited: dict[str, Snapshot | None] = field(default_factory=dict)
    """Servers that had no word in time about the last edits, and what they said before them."""
    base: dict[str, Snapshot] = field(default_factory=dict)
    """What was there as the turn began, where that is known."""
    told: Items = ()
    """What the screen was told last."""
    marks: dict[str, _Marks] = field(default_factory=dict)

    @property
    def items(self) -> Items:
        """In the order of the file; marked as new where they were not there as the turn began."""
        found = [item for key, known in self.by_server.items() for item in self._marked(key, known)]
        return merged(sorted(found, key=lambda item: (item.line, item.character, item.source.casefold())))

    @property
    def is_worth_keeping(self) -> bool:
        """Whether there is more than a text, which can be shown to servers once more."""
        return bool(self.awaited) or any(known.items for known in self.by_server.values())

    @property
    def count_of_doubles(self) -> int:
        """How many findings say what another server says, too."""
        return sum(len(known.items) for known in self.by_server.values()) - len(self.items)

    def known_of(self, key: str, text: str | None) -> Snapshot | None:
        """What a server said of this text; None for the text means whatever it said last."""
        known = self.by_server.get(key)
        return known if known is not None and text in {None, known.text} else None

    def before_edit(self, key: str, old_text: str | None) -> Snapshot | None:
        """As it was before an edit of this text, or before the edits that were not answered yet."""
        known = self.known_of(key, old_text)
        return self.awaited.get(key) if known is None and self.text == old_text else known

    def mark(self) -> None:
        """A turn begins: what is there now is not new."""
        self.base = dict(self.by_server)

    def begin(self, befores: Mapping[str, Snapshot | None]) -> None:
        """Where the turn found nothing known: what was there before its first change."""
        for key, before in befores.items():
            if before is not None:
                self.base.setdefault(key, before)

    def changed_by_others(self, text: str) -> None:
        """The edits that wait for a word are not the only ones that it will be about."""
        if text != self.text:
            self.text = text
            self.awaited = dict.fromkeys(self.awaited)

    def take(self, key: str, found: Iterable[Found]) -> Snapshot:
        """What a server says of the text on disk."""
        known = self.by_server[key] = Snapshot(self.text, diagnostics(self.shown, found))
        return known

    def settle(self, key: str, found: Iterable[Found]) -> Report | None:
        """Take a server's word; where a change waited for it, what the change did."""
        known = self.take(key, found)
        return compared(self.awaited.pop(key), known) if key in self.awaited else None

    def _marked(self, key: str, known: Snapshot) -> Items:
        base = self.base.get(key)
        if base is None or base is known:
            return known.items
        marks = self.marks.get(key)
        if marks is None or marks.base is not base or marks.known is not known:
            report = compared(base, known)
            marks = self.marks[key] = _Marks(base, known, (*report.introduced, *report.remaining))
        return marks.items


def diagnostics(shown: str, found: Iterable[Found]) -> Items:
    """As the screen and people count: from 1."""
    return tuple(
        Diagnostic(
            shown, item.line + 1, item.character + 1, item.severity, item.message, item.code, item.source
        )
        for item in found
    )


def compared(before: Snapshot | None, after: Snapshot) -> Report:
    if before is None:
        return Report(ServerStatus.FRESH, remaining=after.items, is_compared=False)
    return compare(before.items, before.text, after.items, after.text)
