"""Apply the user's review of the agent's changes: revert what was rejected, and report it to the agent."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.diffs.compare import compare
from coder_tui.diffs.hunks import patch, undo_hunks
from coder_tui.protocol.comparison import Change, Comparison, FileState
from coder_tui.protocol.errors import ToolError
from coder_tui.workspace.files.confine import Located, relative_name
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
        shown = [_describe(item) for item in given if item.is_rejected is is_rejected]
        if shown:
            parts += [heading, *shown]
    return "\n\n".join(["I reviewed your changes.", *parts]) if parts else ""


def _describe(item: Item) -> str:
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
"""The only item to decide on in a file without hunks: a picture, an empty file."""
TOO_LARGE = "too large to show, or too old"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A file with the decisions on it. `comparison` compares the exact texts; `comments` are by hunk."""

    file: ChangedFile
    comparison: Comparison
    rejected: frozenset[str] = frozenset()
    comments: Mapping[str, str] = field(default_factory=dict)

    @property
    def units(self) -> tuple[str, ...]:
        """The items to decide on, from top to bottom."""
        return units_of(self.comparison)


def units_of(comparison: Comparison) -> tuple[str, ...]:
    return tuple(hunk.id for hunk in comparison.hunks) or (WHOLE,)


@dataclass(frozen=True, slots=True)
class ChangeReview:
    """Reviews the changes of one session below `root`; `report_changes` reports the files it reverted."""

    changes: SessionChanges
    report_changes: Callable[[tuple[str, ...]], None]
    root: Path

    async def stale(self, files: Iterable[ChangedFile]) -> frozenset[Path]:
        """Find files that have changed since the session wrote them: nothing in them can be reverted."""
        given = tuple(files)
        return await asyncio.to_thread(
            lambda: frozenset(file.path for file in given if not _is_current(file))
        )

    async def settle(self, reviewed: Iterable[Reviewed]) -> str:
        """Revert what was rejected, all or none (`UserError`), and return the message for the agent."""
        given = tuple(reviewed)
        reverts = tuple(_revert(each) for each in given if each.rejected)
        if reverts:
            await self.changes.revert(reverts)
            self.report_changes(tuple(relative_name(revert.path, self.root) for revert in reverts))
        return review_message(item for each in given for item in _items(each))


def compared(file: ChangedFile, root: Path, *, is_shown: bool = False) -> Comparison:
    """Compare the two versions, exactly or as they are shown; a file that is not text has notes, no hunks."""
    name = relative_name(file.path, root)
    if file.is_too_large:
        return Comparison(name, (), (), notes=(TOO_LARGE,))
    try:
        before, after = _text(file.path, file.before), _text(file.path, file.after)
        if is_shown:
            before, after = before and show(before), after and show(after)
        return compare(before, after, name)
    except ToolError as error:
        return Comparison(name, (), (), _state(file), notes=(error.message,))


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
        # Byte for byte: encoding and mode are restored as well.
        return Revert(file.path, file.after, file.before, file.mode_before)
    form = file.before if file.after is None else file.after
    text = undo_hunks(reviewed.comparison, reviewed.rejected)
    wanted = _text_file(file.path, form or b"").encode(text)
    return Revert(file.path, file.after, wanted, file.mode_before if file.after is None else None)


def _items(reviewed: Reviewed) -> Iterator[Item]:
    for unit in reviewed.units:
        words = reviewed.comments.get(unit, "")
        if unit in reviewed.rejected or words:
            hunk = "" if unit == WHOLE else unit
            yield Item(reviewed.comparison, hunk, unit in reviewed.rejected, words)
