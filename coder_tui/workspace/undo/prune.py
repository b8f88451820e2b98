"""Delete old copies by age and size, so that undo does not fill the disk."""

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.storage.blobs import BlobStore, CopyAges, TurnCopies, always
from coder_tui.storage.half_written import Claims


@dataclass(frozen=True, slots=True)
class CopyLimits:
    """How long copies are kept, and how many bytes of them."""

    oldest: float
    """A time; older copies are deleted."""
    most_bytes: int


def contents_to_keep(
    turns: Iterable[TurnCopies], sizes: Mapping[str, int], limits: CopyLimits, is_open: frozenset[str]
) -> frozenset[str]:
    """Return the contents within the limits, newest turns first.

    Open sessions and the last turn of each folder are always kept. A turn is kept as a whole or not at all,
    and nothing older than a turn that was dropped for its size stays.
    """
    given = tuple(turns)
    kept: set[str] = set()
    last: dict[str, TurnCopies] = {}
    for turn in given:
        if last.setdefault(turn.directory, turn) is turn or turn.session_id in is_open:
            kept |= turn.contents
    used, is_full = sum(sizes.get(each, 0) for each in kept), False
    for turn in given:
        more = turn.contents - kept
        used += sum(sizes.get(each, 0) for each in more)
        is_full = is_full or used > limits.most_bytes
        if not is_full and turn.created >= limits.oldest:
            kept |= more
    return frozenset(kept)


async def prune_copies(
    store: CopyAges, blobs: BlobStore, trees: Path, limits: CopyLimits, goes_on: Callable[[], bool] = always
) -> None:
    """Delete what is too old or too much; copies of whole trees first, because they can be recreated."""
    turns, sizes = await store.by_turn(), await asyncio.to_thread(blobs.sizes)
    enough = contents_to_keep(turns, sizes, limits, frozenset())
    # Checking takes the lock for a moment, so only if something would be deleted.
    losing = frozenset(turn.session_id for turn in turns if not turn.contents <= enough)
    is_open = await store.are_open(losing)

    def work() -> None:
        kept = contents_to_keep(turns, sizes, limits, is_open)
        blobs.prune(kept, goes_on)
        left = limits.most_bytes - sum(sizes.get(content, 0) for content in kept)
        prune_trees(trees, CopyLimits(limits.oldest, max(0, left)), goes_on)

    await asyncio.to_thread(work)


def prune_trees(parent: Path, limits: CopyLimits, goes_on: Callable[[], bool] = always) -> None:
    """Remove copies of whole trees that no process uses, the oldest first."""
    claims, used = Claims(parent), 0
    trees = sorted((_measured(tree) for tree in _folders(parent)), key=lambda tree: tree[1], reverse=True)
    for tree, written, size in trees:
        if not goes_on():
            return
        used += size
        is_wanted = written >= limits.oldest and used <= limits.most_bytes
        # A process that uses it holds this lock.
        if not is_wanted and claims.acquire(tree.name):
            shutil.rmtree(tree, ignore_errors=True)
            claims.release(tree.name)
            used -= size


def _folders(parent: Path) -> list[Path]:
    return [path for path in parent.iterdir() if path.is_dir()] if parent.is_dir() else []


def _measured(tree: Path) -> tuple[Path, float, int]:
    """Return a tree with the time of its last write and its size."""
    written, size = 0.0, 0
    for path in (tree, *tree.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            found = path.stat()
            written = max(written, found.st_mtime)
            size += found.st_size
    return tree, written, size
