"""Gives old copies up, by age and by size, so that being able to undo does not fill the disk."""

import asyncio
import contextlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coder_tui.storage.blobs import BlobStore, CopyAges, TurnCopies, always
from coder_tui.storage.claims import Claims


@dataclass(frozen=True, slots=True)
class Room:
    """How long copies are kept, and how much of them."""

    oldest: float
    """A time: what is older goes."""
    most_bytes: int


def contents_to_keep(
    turns: Iterable[TurnCopies], sizes: Mapping[str, int], room: Room, is_open: frozenset[str]
) -> frozenset[str]:
    """Of `turns`, newest first: all there is room for; in any case open sessions and each folder's last turn.

    A turn is kept whole or not at all, and nothing older than one that had to go by its size stays.
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
        is_full = is_full or used > room.most_bytes
        if not is_full and turn.created >= room.oldest:
            kept |= more
    return frozenset(kept)


async def prune_copies(
    store: CopyAges, blobs: BlobStore, trees: Path, room: Room, goes_on: Callable[[], bool] = always
) -> None:
    """Give up what is too old or too much; copies of whole trees first, for they can be made again."""
    turns, sizes = await store.copies_by_turn(), await asyncio.to_thread(blobs.sizes)
    enough = contents_to_keep(turns, sizes, room, frozenset())
    # Looking takes the lock for a moment: only where something would go.
    losing = frozenset(turn.session_id for turn in turns if not turn.contents <= enough)
    is_open = await store.are_open(losing)

    def work() -> None:
        kept = contents_to_keep(turns, sizes, room, is_open)
        blobs.prune(kept, goes_on)
        left = room.most_bytes - sum(sizes.get(content, 0) for content in kept)
        prune_trees(trees, Room(room.oldest, max(0, left)), goes_on)

    await asyncio.to_thread(work)


def prune_trees(parent: Path, room: Room, goes_on: Callable[[], bool] = always) -> None:
    """Remove copies of whole trees that no process uses, the oldest first."""
    claims, used = Claims(parent), 0
    trees = sorted((_measured(tree) for tree in _folders(parent)), key=lambda tree: tree[1], reverse=True)
    for tree, written, size in trees:
        if not goes_on():
            return
        used += size
        is_wanted = written >= room.oldest and used <= room.most_bytes
        # Whoever uses it holds this lock.
        if not is_wanted and claims.take(tree.name):
            shutil.rmtree(tree, ignore_errors=True)
            claims.release(tree.name)
            used -= size


def _folders(parent: Path) -> list[Path]:
    return [path for path in parent.iterdir() if path.is_dir()] if parent.is_dir() else []


def _measured(tree: Path) -> tuple[Path, float, int]:
    """With the time at which it was written last, and its size."""
    written, size = 0.0, 0
    for path in (tree, *tree.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            found = path.stat()
            written = max(written, found.st_mtime)
            size += found.st_size
    return tree, written, size
