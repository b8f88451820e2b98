"""A file as a language server has it, and what the server reported for which text.

Also converts positions between characters and the units that a server counts.
"""

import asyncio
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from coder_tui.lsp.wire import Finding, Place
from coder_tui.protocol.diagnostics import Severity

# The only line ends of the protocol; Python's own splitting knows more.
_LINE_END = re.compile(r"\r\n|\n|\r")
# Characters beyond it take two units in UTF-16.
_LAST_OF_TWO_BYTES = "\uffff"


class PositionEncoding(StrEnum):
    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


def lines_of(text: str) -> list[str]:
    """Split into lines without their ends; after a final line break there is an empty last line."""
    return _LINE_END.split(text)


def to_units(line: str, character: int, encoding: PositionEncoding) -> int:
    """Convert characters to units; a position past the end becomes the end."""
    head = line[: max(character, 0)]
    match encoding:
        case PositionEncoding.UTF32:
            return len(head)
        case PositionEncoding.UTF16:
            return len(head) + sum(char > _LAST_OF_TWO_BYTES for char in head)
        case PositionEncoding.UTF8:
            return len(head.encode("utf-8", "surrogatepass"))


class Ruler:
    """Converts units to characters in one text; each line is measured only once."""

    def __init__(self, text: str, encoding: PositionEncoding) -> None:
        self._lines = lines_of(text)
        self._encoding = encoding
        self._ends: dict[int, list[int]] = {}

    def line(self, number: int) -> str:
        return line_at(self._lines, number)

    def characters(self, number: int, units: int) -> int:
        """Return the character; a position inside a character is its start, one past the end the end."""
        line = self.line(number)
        if self._encoding is PositionEncoding.UTF32 or line.isascii():
            return min(max(units, 0), len(line))
        ends = self._ends.get(number)
        if ends is None:
            ends = self._ends[number] = list(accumulate(_widths(line, self._encoding)))
        return bisect_right(ends, units)


def _widths(line: str, encoding: PositionEncoding) -> Iterator[int]:
    if encoding is PositionEncoding.UTF16:
        return (1 + (char > _LAST_OF_TWO_BYTES) for char in line)
    return (len(char.encode("utf-8", "surrogatepass")) for char in line)


def line_at(lines: list[str], number: int) -> str:
    return lines[number] if 0 <= number < len(lines) else ""


MOST_FINDINGS = 500
_REMEMBERED_TEXTS = 3
_GRAVEST_FIRST = list(Severity)


@dataclass(frozen=True, slots=True)
class Push:
    """What the server published last; `version` is None if it does not say which text it is about."""

    version: int | None
    items: tuple[Finding, ...]
    at: float


@dataclass(slots=True)
class Document:
    """`version` numbers the texts that were sent; `generation` is the server's run that has it open."""

    path: str
    uri: str
    language: str
    text: str = ""
    version: int = 0
    generation: int = 0
    sent_at: float = 0.0
    used: int = 0
    waiting: int = 0
    """How many callers wait for a report on it."""
    closing: asyncio.TimerHandle | None = None
    """Set while it is about to be closed, unless it is needed again."""
    is_proposed: bool = False
    """Whether this text is only a proposal, not what is on disk."""
    push: Push | None = None
    pushes: int = 0
    """How often this version was published, before it was saved."""
    is_saved: bool = False
    """Whether the server already had this version when it was saved."""
    unanswered: int = 0
    """Texts without a report yet: without versions it is unknown which of them a report is about."""
    queued: int = 0
    """How many unanswered texts there were, including this one, when it was sent."""
    doubts: int = 0
    """How often something else changed that a result may depend on."""
    doubted_at: float | None = None
    """Since when the result may be outdated."""
    pulled: tuple[Finding, ...] = ()
    has_pulled: bool = False
    """Whether `pulled` is about this version."""
    recalled: tuple[Finding, ...] | None = None
    """An earlier report on exactly this text, used instead of `push` and `pulled`."""
    pull_fails: bool = False
    known_version: int = 0
    """The newest version with a complete result."""
    remembered: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    """Results of the last texts, kept until another file changes."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_known(self) -> bool:
        return self.version > 0 and self.known_version >= self.version and self.doubted_at is None

    def is_settled(self, version: int) -> bool:
        """Return whether there is an undoubted result for this version or a later one."""
        return self.known_version >= version and self.doubted_at is None

    @property
    def items(self) -> tuple[Finding, ...]:
        """All known findings; a server may publish some and return others on request."""
        if self.recalled is not None:
            return self.recalled
        push = self.current_push() if self.has_pulled else self.push
        pushed = push.items if push else ()
        own = set(self.pulled)
        return (*self.pulled, *(item for item in pushed if item not in own))

    def sent(self, text: str, version: int, at: float) -> None:
        self.text, self.version, self.sent_at = text, version, at
        self.unanswered += 1
        self.queued = self.unanswered
        self.pushes, self.is_saved = 0, False
        self.pull_fails = self.has_pulled = False
        self.recalled = self.doubted_at = None

    def doubt(self, at: float) -> None:
        """Mark the result as possibly outdated, because something else changed."""
        self.remembered.clear()
        self.doubts += 1
        if self.known_version:
            self.doubted_at = at

    def forget(self) -> None:
        """Forget all results: the server that reported them is gone."""
        self.push, self.pulled, self.recalled, self.doubted_at = None, (), None, None
        self.known_version = self.pushes = 0
        self.pull_fails = self.has_pulled = False
        self.unanswered = self.queued = 1
        self.remembered.clear()

    def take_pull(self, items: tuple[Finding, ...]) -> None:
        self.pulled, self.recalled, self.has_pulled = items, None, True

    def take_push(self, version: int | None, items: tuple[Finding, ...], at: float) -> bool:
        """Record a published report; return False if it is about an earlier text."""
        if version is not None and version < self.version:
            return False
        self.push, self.recalled = Push(version, items, at), None
        # A report after a save was caused by the save, so it does not show how often a text is published.
        self.pushes += not self.is_saved
        self.unanswered = 0 if version is not None else max(0, self.unanswered - 1)
        return True

    def current_push(self) -> Push | None:
        push = self.push
        if push is None:
            return None
        is_current = push.version >= self.version if push.version is not None else push.at > self.sent_at
        return push if is_current else None

    def holds(self, count: int | None) -> bool:
        """Return whether the published findings are all of the `count` that exist for this text."""
        if count is None or self.push is None or len(self.push.items) != count:
            return False
        return count == 0 or self.current_push() is not None

    def lacks(self, count: int | None) -> bool:
        """Return whether findings are known to exist, but none was published yet."""
        return bool(count) and self.push is not None and not self.push.items

    def know(self) -> None:
        """Accept the present findings as the result for this text."""
        self.known_version, self.doubted_at = self.version, None
        self.remembered.pop(self.text, None)
        self.remembered[self.text] = self.items
        while len(self.remembered) > _REMEMBERED_TEXTS:
            del self.remembered[next(iter(self.remembered))]

    def recall(self) -> bool:
        """Use what the server reported for exactly this text before; False if nothing is remembered."""
        if self.text not in self.remembered:
            return False
        self.recalled = self.remembered[self.text]
        self.know()
        return True

    def bounded(self) -> tuple[Finding, ...]:
        items = self.items
        if len(items) <= MOST_FINDINGS:
            return items
        ordered = sorted(items, key=lambda item: (_GRAVEST_FIRST.index(item.severity), item.line))
        return tuple(ordered[:MOST_FINDINGS])


def in_characters(items: tuple[Finding, ...], text: str, encoding: PositionEncoding) -> tuple[Finding, ...]:
    """Convert findings from the server's units."""
    count = Ruler(text, encoding).characters
    return tuple(
        Finding(
            item.line,
            count(item.line, item.character),
            item.end_line,
            count(item.end_line, item.end_character),
            item.severity,
            item.message,
            item.code,
            item.source,
        )
        for item in items
    )


def place_in_characters(place: Place, ruler: Ruler | None) -> Place:
    """Convert a place from the server's units and add the line's text; unchanged if there is no text."""
    if ruler is None:
        return place
    return Place(
        place.uri,
        place.line,
        ruler.characters(place.line, place.character),
        place.end_line,
        ruler.characters(place.end_line, place.end_character),
        ruler.line(place.line).strip()[:300],
    )


def uri_of(path: str) -> str:
    return Path(path).as_uri()


def path_of(uri: str) -> str:
    """Return the path of a file URI, or "" for anything else. Each server escapes in its own way."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    # A file name may not be valid text; the escapes are its bytes.
    path = os.fsdecode(unquote_to_bytes(parts.path))
    return path if parts.scheme == "file" and "\0" not in path else ""
