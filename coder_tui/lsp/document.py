"""A file as a language server has it, and what the server said of which text."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from coder_tui.lsp.positions import PositionEncoding, line_at, lines_of, to_characters
from coder_tui.lsp.wire import Found, Place
from coder_tui.protocol.diagnostics import Severity

MOST_FINDINGS = 500
_REMEMBERED_TEXTS = 3
_GRAVEST_FIRST = list(Severity)


@dataclass(frozen=True, slots=True)
class Push:
    """What the server published last; `version` where it says which text it is about."""

    version: int | None
    items: tuple[Found, ...]
    at: float


@dataclass(slots=True)
class Document:
    """`version` counts the texts that were sent; `generation` is the run of the server that has it open."""

    path: str
    uri: str
    language: str
    text: str = ""
    version: int = 0
    generation: int = 0
    sent_at: float = 0.0
    used: int = 0
    is_proposed: bool = False
    """Whether this text is only tried, and not what is on disk."""
    push: Push | None = None
    pushes: int = 0
    """How often this version was published, before it was saved."""
    is_saved: bool = False
    """Whether the server was told that this version is on disk after it had it for a while."""
    is_overlapping: bool = False
    """Whether the text before this was not answered yet when this was sent."""
    pulled: tuple[Found, ...] = ()
    recalled: tuple[Found, ...] | None = None
    """What holds in place of both: said of this very text before."""
    pull_fails: bool = False
    known_version: int = 0
    """The newest version that a whole result is known for."""
    remembered: dict[str, tuple[Found, ...]] = field(default_factory=dict)
    """Results of the last texts, as long as no other file changed."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_known(self) -> bool:
        return self.version > 0 and self.known_version >= self.version

    @property
    def items(self) -> tuple[Found, ...]:
        """All that is known; a server may publish some and hand out others on request."""
        if self.recalled is not None:
            return self.recalled
        pushed = self.push.items if self.push else ()
        own = set(self.pulled)
        return (*self.pulled, *(item for item in pushed if item not in own))

    def sent(self, text: str, at: float) -> None:
        self.text, self.sent_at = text, at
        self.is_overlapping = self.version > 0 and self.pushes == 0
        self.version += 1
        self.pushes, self.is_saved = 0, False
        self.pull_fails = False
        self.recalled = None

    def take_pull(self, items: tuple[Found, ...]) -> None:
        self.pulled, self.recalled = items, None

    def take_push(self, version: int | None, items: tuple[Found, ...], at: float) -> bool:
        """False for what is about an earlier text."""
        if version is not None and version < self.version:
            return False
        self.push, self.recalled = Push(version, items, at), None
        # What follows a save was asked for by it, and says nothing of how often a text is published.
        self.pushes += not self.is_saved
        return True

    def current_push(self) -> Push | None:
        push = self.push
        if push is None:
            return None
        is_current = push.version >= self.version if push.version is not None else push.at > self.sent_at
        return push if is_current else None

    def holds(self, count: int | None) -> bool:
        """Whether what was published is all of `count` findings, which were counted for this very text."""
        if count is None or self.push is None or len(self.push.items) != count:
            return False
        return count == 0 or self.current_push() is not None

    def know(self) -> None:
        """What is there now is the result for this text."""
        self.known_version = self.version
        self.remembered.pop(self.text, None)
        self.remembered[self.text] = self.items
        while len(self.remembered) > _REMEMBERED_TEXTS:
            del self.remembered[next(iter(self.remembered))]

    def recall(self) -> bool:
        """Take up what the server said of this very text before."""
        if self.text not in self.remembered:
            return False
        self.recalled = self.remembered[self.text]
        self.know()
        return True

    def bounded(self) -> tuple[Found, ...]:
        items = self.items
        if len(items) <= MOST_FINDINGS:
            return items
        ordered = sorted(items, key=lambda item: (_GRAVEST_FIRST.index(item.severity), item.line))
        return tuple(ordered[:MOST_FINDINGS])


def in_characters(items: tuple[Found, ...], text: str, encoding: PositionEncoding) -> tuple[Found, ...]:
    """From the server's units."""
    lines = lines_of(text)

    def count(line: int, units: int) -> int:
        return to_characters(line_at(lines, line), units, encoding)

    return tuple(
        Found(
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


def place_in_characters(place: Place, text: str | None, encoding: PositionEncoding) -> Place:
    """From the server's units, with the line's text; as it is where the file cannot be read."""
    if text is None:
        return place
    lines = lines_of(text)
    first, last = line_at(lines, place.line), line_at(lines, place.end_line)
    return Place(
        place.uri,
        place.line,
        to_characters(first, place.character, encoding),
        place.end_line,
        to_characters(last, place.end_character, encoding),
        first.strip()[:300],
    )


def uri_of(path: str) -> str:
    return Path(path).as_uri()


def path_of(uri: str) -> str:
    """The file that an address names; servers escape it each in their own way. Empty for other things."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else ""
