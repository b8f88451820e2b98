"""What a person decided on the agent's changes: taken back on disk, and told to the agent in one message.

The words in which the agent hears of a review: what was rejected, what was said, each with its lines.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.diffs.compare import compare
from coder_tui.diffs.hunks import patch, without
from coder_tui.diffs.model import Change, Comparison, FileState
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.events import FilesChanged
from coder_tui.workspace.files.confine import Located
from coder_tui.workspace.files.text import TextFile, decode, show
from coder_tui.workspace.undo.changed_files import ChangedFile
from coder_tui.workspace.undo.restore import Revert, is_as_seen

MOST_LINES = 80
"""Of one hunk; the agent wrote it and knows the rest."""
_REJECTED = "I rejected these, and they are undone on disk already (read the file again before you edit it):"
_KEPT = "I keep these, but have something to say:"


@dataclass(frozen=True, slots=True)
class Item:
    """One hunk, or the whole file where `hunk` is empty."""

    comparison: Comparison
    hunk: str
    is_rejected: bool
    words: str


def review_message(items: Iterable[Item]) -> str:
    """Empty when there is nothing to tell."""
    given = tuple(items)
    parts: list[str] = []
    for heading, is_rejected in ((_REJECTED, True), (_KEPT, False)):
        told = [_told(item) for item in given if item.is_rejected is is_rejected]
        if told:
            parts += [heading, *told]
    return "\n\n".join(["I reviewed your changes.", *parts]) if parts else ""


def _told(item: Item) -> str:
    lines = [f"{item.comparison.path}{_place(item)}"]
    if item.hunk:
        lines += _fenced(show(patch(item.comparison, (item.hunk,))))
    if item.words:
        lines.append(f"My comment: {item.words.strip()}")
    return "\n".join(lines)


def _place(item: Item) -> str:
    if not item.hunk:
        return {FileState.CREATED: " (new file)", FileState.DELETED: " (deleted file)"}.get(
            item.comparison.state, " (the whole file)"
        )
    hunk = item.comparison.hunk(item.hunk)
    parts = [part for part in item.comparison.sections[hunk.start : hunk.stop] if isinstance(part, Change)]
    first, last = parts[0].new + 1, parts[-1].new + len(parts[-1].added)
    if last < first:
        return f", after line {first - 1}"
    return f", line {first}" if first == last else f", lines {first}-{last}"


def _fenced(diff: str) -> Iterator[str]:
    longest = max((len(run) for run in re.findall("`{3,}", diff)), default=2)
    fence = "`" * (longest + 1)
    lines = diff.removesuffix("\n").split("\n")
    yield f"{fence}diff"
    yield from lines[:MOST_LINES]
    if len(lines) > MOST_LINES:
        yield f"... {len(lines) - MOST_LINES} more lines"
    yield fence


WHOLE = "whole"
"""The one thing to decide on in a file that has no hunks: a picture, an empty file."""
TOO_LARGE = "too large to show, or too old"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A file with what was decided; `comparison` is of the exact texts, and `comments` are by hunk."""

    file: ChangedFile
    comparison: Comparison
    rejected: frozenset[str] = frozenset()
    comments: Mapping[str, str] = field(default_factory=dict)

    @property
    def units(self) -> tuple[str, ...]:
        """What can be decided on, from top to bottom."""
        return units_of(self.comparison)


def units_of(comparison: Comparison) -> tuple[str, ...]:
    return tuple(hunk.id for hunk in comparison.hunks) or (WHOLE,)


class ReviewDesk:
    """Serves one session, whose files lie below `root`."""

    def __init__(self, changes: SessionChanges, bus: EventBus, root: Path) -> None:
        self._changes = changes
        self._bus = bus
        self._root = root

    async def stale(self, files: Iterable[ChangedFile]) -> frozenset[Path]:
        """Those that are no longer as the session left them: nothing in them can be taken back."""
        given = tuple(files)
        return await asyncio.to_thread(
            lambda: frozenset(file.path for file in given if not _is_current(file))
        )

    async def settle(self, reviewed: Iterable[Reviewed]) -> str:
        """Take back what was rejected, all or none (`UserError`), and return the message for the agent."""
        given = tuple(reviewed)
        reverts = tuple(_revert(each) for each in given if each.rejected)
        if reverts:
            await self._changes.revert(reverts)
            self._bus.publish(FilesChanged(tuple(name_of(revert.path, self._root) for revert in reverts)))
        return review_message(item for each in given for item in _items(each))


def compared(file: ChangedFile, root: Path) -> Comparison:
    """The two versions, character by character as they are; a file that is no text has notes and no hunks."""
    name = name_of(file.path, root)
    if file.is_too_large:
        return Comparison(name, (), (), notes=(TOO_LARGE,))
    try:
        return compare(_text(file.path, file.before), _text(file.path, file.after), name)
    except ToolError as error:
        return Comparison(name, (), (), _state(file), notes=(error.message,))


def name_of(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _state(file: ChangedFile) -> FileState:
    if file.before is None:
        return FileState.CREATED
    return FileState.DELETED if file.after is None else FileState.CHANGED


def _text(path: Path, data: bytes | None) -> str | None:
    return None if data is None else _text_file(path, data).text


def _text_file(path: Path, data: bytes) -> TextFile:
    return decode(data, Located(path, path.name, is_inside=True, escapes_by_link=False))


def _is_current(file: ChangedFile) -> bool:
    return not file.is_too_large and is_as_seen(file.path, file.after)


def _revert(reviewed: Reviewed) -> Revert:
    file = reviewed.file
    if reviewed.rejected >= set(reviewed.units):
        # Byte for byte: encoding and mode come back as well.
        return Revert(file.path, file.after, file.before, file.mode_before)
    form = file.before if file.after is None else file.after
    text = without(reviewed.comparison, reviewed.rejected)
    wanted = _text_file(file.path, form or b"").encode(text)
    return Revert(file.path, file.after, wanted, file.mode_before if file.after is None else None)


def _items(reviewed: Reviewed) -> Iterator[Item]:
    for unit in reviewed.units:
        words = reviewed.comments.get(unit, "")
        if unit in reviewed.rejected or words:
            hunk = "" if unit == WHOLE else unit
            yield Item(reviewed.comparison, hunk, unit in reviewed.rejected, words)
