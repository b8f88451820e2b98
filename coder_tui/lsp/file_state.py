"""What is known of one file's problems, by server, as its text on disk is."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from coder_tui.lsp.merging import merged
from coder_tui.lsp.positions import lines_of
from coder_tui.lsp.report import Key, Report, compare, key_of, keys_of
from coder_tui.lsp.wire import Found
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus

Items = tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one server said of one text."""

    text: str
    items: Items


@dataclass(slots=True)
class FileState:
    """`shown` is how the file is named in this session. A file that goes and comes again has another."""

    path: Path
    shown: str
    text: str = ""
    by_server: dict[str, Items] = field(default_factory=dict)
    awaited: dict[str, Snapshot | None] = field(default_factory=dict)
    """Servers that had no word in time about the last change, and what they said before it."""
    base: Counter[Key] | None = None
    """What was there as the turn began; None where nobody knows."""
    told: Items = ()
    """What the screen was told last."""

    @property
    def items(self) -> Items:
        """In the order of the file; marked as new where they were not there as the turn began."""
        found = self._found()
        return merged(found if self.base is None else self._marked(found, self.base))

    @property
    def count_of_doubles(self) -> int:
        """How many findings say what another server says, too."""
        return sum(map(len, self.by_server.values())) - len(self.items)

    def snapshot(self, key: str) -> Snapshot | None:
        items = self.by_server.get(key)
        return None if items is None else Snapshot(self.text, items)

    def mark(self) -> None:
        """A turn begins: what is there now is not new."""
        self.base = keys_of(self._found(), self.text) if self.by_server else None

    def begin(self, befores: Iterable[Snapshot | None]) -> None:
        """Where the turn found nothing known: what was there before its first change."""
        known = [before for before in befores if before is not None]
        if self.base is None and known:
            self.base = sum((keys_of(before.items, before.text) for before in known), Counter())

    def take(self, key: str, found: Iterable[Found]) -> Items:
        items = self.by_server[key] = diagnostics(self.shown, found)
        return items

    def settle(self, key: str, found: Iterable[Found]) -> Report | None:
        """Take a server's word; where a change waited for it, what the change did."""
        items = self.take(key, found)
        if key not in self.awaited:
            return None
        return compared(self.awaited.pop(key), Snapshot(self.text, items))

    def _found(self) -> list[Diagnostic]:
        found = [item for items in self.by_server.values() for item in items]
        return sorted(found, key=lambda item: (item.line, item.character, item.source.casefold()))

    def _marked(self, found: list[Diagnostic], base: Counter[Key]) -> Items:
        left, lines = Counter(base), lines_of(self.text)
        marked: list[Diagnostic] = []
        for item in found:
            key = key_of(item, lines)
            left[key] -= 1
            marked.append(replace(item, is_new=left[key] < 0))
        return tuple(marked)


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
