"""The words in which the agent hears of a review: what was rejected, what was said, each with its lines."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from coder_tui.diffs.model import Change, Comparison, FileState
from coder_tui.diffs.patch import patch
from coder_tui.workspace.files import show

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
