"""Old copies are deleted by age and size; what is new or in use stays."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.storage.blobs import TOO_OLD, BlobStore, TurnCopies
from coder_tui.storage.store import Store
from coder_tui.workspace.undo.changed_files import ChangedFile
from coder_tui.workspace.undo.prune import CopyLimits, contents_to_keep, prune_copies, prune_trees
from coder_tui.workspace.undo.snapshots import Conflict, Restored, SnapshotStore
from coder_tui.workspace.undo.tree_copies import own_folder

EVER = CopyLimits(0, 10**12)
SIZE = 1000


@dataclass
class Work:
    """A folder in which each turn of a session writes other bytes to one file."""

    root: Path
    data: Path
    store: Store
    blobs: BlobStore
    session: str

    @property
    def file(self) -> Path:
        return self.root / "a.txt"

    @property
    def snapshots(self) -> SnapshotStore:
        return SnapshotStore(self.store.changes, self.blobs)

    async def turn(self, number: int) -> None:
        kept = await self.snapshots.before_change(self.session, number, f"c{number}", [self.file])
        self.file.write_bytes(bytes([number]) * SIZE)
        await self.snapshots.after_change(self.session, kept)

    async def prune(self, room: CopyLimits) -> None:
        for blob in self.data.glob("blobs/??/*"):
            os.utime(blob, (0, 0))  # otherwise they count as about to be recorded
        await prune_copies(self.store.copies, self.blobs, self.data / "copies", room)

    def kept(self) -> int:
        return sum(self.blobs.sizes().values())


@pytest.fixture
async def work(tmp_path: Path) -> AsyncIterator[Work]:
    root, data = tmp_path / "project", tmp_path / "data"
    root.mkdir()
    store = await Store.open(data / "sessions.db")
    session = (await store.sessions.create(str(root), "", Mode.ASK)).id
    made = Work(root, data, store, BlobStore(data / "blobs"), session)
    made.file.write_bytes(b"\0" * SIZE)
    for number in (1, 2, 3, 4):
        await made.turn(number)
    yield made
    await store.close()


async def test_old_turns_go_and_the_newest_is_undone_exactly(work: Work) -> None:
    third = (await work.store.copies.by_turn())[1]
    before = work.kept()

    await work.prune(CopyLimits(third.created, EVER.most_bytes))

    # The two newest turns need what was there after 2, 3 and 4.
    assert (before, work.kept()) == (5 * SIZE, 3 * SIZE)
    assert await work.snapshots.restore(work.session, 4) == Restored((work.file,), ())
    assert work.file.read_bytes() == b"\3" * SIZE
    assert await work.snapshots.redo(work.session, 4) == Restored((work.file,), ())
    assert work.file.read_bytes() == b"\4" * SIZE


async def test_pruned_turns_cannot_be_undone_and_files_are_left_alone(work: Work) -> None:
    newest = (await work.store.copies.by_turn())[0]
    await work.prune(CopyLimits(newest.created, EVER.most_bytes))

    restored = await work.snapshots.restore(work.session, 1)

    assert restored == Restored((), (Conflict(work.file, TOO_OLD),))
    assert work.file.read_bytes() == b"\4" * SIZE
    assert await work.snapshots.changed(work.session, 1) == (
        ChangedFile(work.file, 4, None, None, is_too_large=True),
    )


async def test_too_much_is_cut_from_the_old_end(work: Work) -> None:
    await work.prune(CopyLimits(0, 3 * SIZE))

    assert work.kept() == 3 * SIZE
    assert (await work.snapshots.restore(work.session, 3)).conflicts == ()
    assert work.file.read_bytes() == b"\2" * SIZE


async def test_the_last_turn_of_a_folder_stays_whatever_the_room(work: Work) -> None:
    await work.prune(CopyLimits(float("inf"), 0))

    assert work.kept() == 2 * SIZE
    assert (await work.snapshots.restore(work.session, 4)).conflicts == ()


async def test_a_session_that_is_open_somewhere_keeps_all(work: Work) -> None:
    elsewhere = await Store.open(work.data / "sessions.db")
    await elsewhere.sessions.claim(work.session)

    await work.prune(CopyLimits(float("inf"), 0))

    assert work.kept() == 5 * SIZE
    await elsewhere.close()


async def test_copies_without_a_session_are_pruned(work: Work) -> None:
    await work.store.sessions.delete(work.session)

    await work.prune(EVER)

    assert work.kept() == 0


def test_a_content_that_a_newer_turn_needs_stays_with_it() -> None:
    old = TurnCopies("s", "/a", 1, 10, frozenset("xy"))
    new = TurnCopies("s", "/a", 2, 20, frozenset("yz"))
    other = TurnCopies("t", "/b", 1, 5, frozenset("w"))
    turns, sizes = (new, old, other), dict.fromkeys("wxyz", 1)

    kept = [
        "".join(sorted(contents_to_keep(turns, sizes, room, is_open)))
        for room, is_open in (
            (EVER, frozenset[str]()),
            (CopyLimits(15, 100), frozenset[str]()),
            (CopyLimits(0, 3), frozenset[str]()),
            (CopyLimits(15, 0), frozenset("s")),
        )
    ]

    assert kept == ["wxyz", "wyz", "wyz", "wxyz"]


def test_copies_of_trees_go_unless_somebody_uses_them(tmp_path: Path) -> None:
    parent = tmp_path / "copies"
    for number, name in enumerate(("old", "new", "used")):
        (parent / name).mkdir(parents=True)
        (parent / name / "p.pack").write_bytes(b"x" * SIZE)
        for path in (parent / name / "p.pack", parent / name):
            os.utime(path, (number * 100, number * 100))
    used, _ = own_folder(parent / "used")

    prune_trees(parent, CopyLimits(50, 10**9))
    by_age = sorted(path.name for path in parent.iterdir() if path.is_dir())
    prune_trees(parent, CopyLimits(0, 0))
    by_size = [path for path in parent.iterdir() if path.is_dir()]

    assert (by_age, by_size) == (["new", "used"], [used])
