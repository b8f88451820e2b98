"""What is known of one file's problems, by server, as its text on disk is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.lsp.comparing import compare
from coder_tui.lsp.merging import merged
from coder_tui.lsp.report import Report
from coder_tui.lsp.wire import Found
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus

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
