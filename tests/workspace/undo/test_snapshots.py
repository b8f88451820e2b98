"""Every change can be undone exactly, and nobody else's work is lost."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ToolError
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.store import Store
from coder_tui.workspace.undo.changed_files import ChangedFile
from coder_tui.workspace.undo.snapshots import Conflict, Restored, SnapshotStore
from tests.workspace.trees import Tree, look


@dataclass
class Undo:
    """A workspace, and the snapshots of one session in it."""

    root: Path
    store: Store
    snapshots: SnapshotStore
    session: str

    async def change(self, turn: int, work: Callable[[], object], *paths: str) -> None:
        """Do what a tool does: `work` changes `paths`."""
        places = [self.root / path for path in paths]
        kept = await self.snapshots.before_change(self.session, turn, f"call-{turn}", places)
        work()
        await self.snapshots.after_change(self.session, kept)

    async def restore(self, turn: int) -> Restored:
        return await self.snapshots.restore(self.session, turn)

    async def redo(self, turn: int) -> Restored:
        return await self.snapshots.redo(self.session, turn)

    def tree(self) -> Tree:
        return {str(path.relative_to(self.root)): look(path) for path in sorted(self.root.rglob("*"))}

    def conflict(self, name: str, reason: str) -> Restored:
        return Restored((), (Conflict(self.root / name, reason),))


@contextlib.asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Undo]:
    root = folder / "ws"
    root.mkdir()
    store = await Store.open(folder / "data/store.db")
    info = await store.sessions.create(str(root), "", Mode.ASK)
    try:
        yield Undo(root, store, SnapshotStore(store.changes, BlobStore(folder / "data/blobs")), info.id)
    finally:
        await store.close()


@pytest.fixture
async def undo(tmp_path: Path) -> AsyncIterator[Undo]:
    async with opened(tmp_path) as made:
        yield made


async def test_a_changed_file_gets_its_bytes_and_mode_back_and_can_be_changed_again(undo: Undo) -> None:
    path = undo.root / "a.txt"
    path.write_bytes(b"old\r\n\xff")
    path.chmod(0o640)
    before = undo.tree()

    def work() -> None:
        path.write_bytes(b"new")
        path.chmod(0o755)

    await undo.change(1, work, "a.txt")
    after = undo.tree()

    assert await undo.restore(1) == Restored((path,), ())
    assert undo.tree() == before
    assert await undo.redo(1) == Restored((path,), ())
    assert undo.tree() == after


async def test_a_new_file_is_removed_with_the_folders_made_for_it(undo: Undo) -> None:
    path = undo.root / "new/deep/a.txt"

    def work() -> None:
        path.parent.mkdir(parents=True)
        path.write_text("x")

    await undo.change(1, work, "new/deep/a.txt")
    after = undo.tree()
    await undo.restore(1)
    between = undo.tree()
    await undo.redo(1)

    assert (between, undo.tree()) == ({}, after)


async def test_a_removed_file_is_restored(undo: Undo) -> None:
    path = undo.root / "a.txt"
    path.write_text("precious")
    path.chmod(0o600)
    before = undo.tree()

    await undo.change(1, path.unlink, "a.txt")
    await undo.restore(1)

    assert undo.tree() == before


async def test_a_link_is_restored_as_a_link(undo: Undo) -> None:
    link = undo.root / "link"
    link.symlink_to("nowhere/at all")
    before = undo.tree()

    def work() -> None:
        link.unlink()
        link.write_text("a file")

    await undo.change(1, work, "link")
    after = undo.tree()
    await undo.restore(1)
    between = undo.tree()
    await undo.redo(1)

    assert (between, undo.tree()) == (before, after)


async def test_a_file_that_has_changed_since_is_left_and_reported(undo: Undo) -> None:
    (undo.root / "a").write_text("1")
    (undo.root / "b").write_text("1")

    def work() -> None:
        (undo.root / "a").write_text("2")
        (undo.root / "b").write_text("2")

    await undo.change(1, work, "a", "b")
    (undo.root / "a").write_text("mine")

    restored = await undo.restore(1)

    assert restored == Restored((undo.root / "b",), (Conflict(undo.root / "a", "it has changed since"),))
    assert ((undo.root / "a").read_text(), (undo.root / "b").read_text()) == ("mine", "1")


async def test_a_change_of_somebody_else_in_between_is_a_conflict(undo: Undo) -> None:
    path = undo.root / "a"
    path.write_text("1")
    await undo.change(1, lambda: path.write_text("2"), "a")
    path.write_text("mine")
    await undo.change(2, lambda: path.write_text("3"), "a")

    whole = await undo.restore(1)
    last = await undo.restore(2)

    assert whole == undo.conflict("a", "somebody else changed it between two of these changes")
    assert (last, path.read_text()) == (Restored((path,), ()), "mine")


async def test_nothing_is_restored_through_a_link(undo: Undo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("2")
    (undo.root / "sub").mkdir()
    path = undo.root / "sub/a"
    path.write_text("1")
    await undo.change(1, lambda: path.write_text("2"), "sub/a")
    (undo.root / "sub").rename(undo.root / "was")
    (undo.root / "sub").symlink_to(outside)

    restored = await undo.restore(1)

    assert restored == undo.conflict("sub/a", "its path now leads through a symbolic link")
    assert ((outside / "a").read_text(), (undo.root / "was/a").read_text()) == ("2", "2")


async def test_a_link_in_a_files_place_is_left(undo: Undo, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("2")
    path = undo.root / "a"
    path.write_text("1")
    await undo.change(1, lambda: path.write_text("2"), "a")
    path.unlink()
    path.symlink_to(tmp_path / "outside")

    assert await undo.restore(1) == undo.conflict("a", "it has changed since")
    assert ((tmp_path / "outside").read_text(), path.is_symlink()) == ("2", True)


async def test_a_folder_that_others_use_by_now_stays(undo: Undo) -> None:
    await undo.change(1, (undo.root / "made").mkdir, "made")
    (undo.root / "made/theirs").write_text("x")

    assert await undo.restore(1) == undo.conflict("made", "the folder is not empty")
    assert (undo.root / "made/theirs").read_text() == "x"


async def test_a_change_that_the_program_did_not_survive_is_left_unless_nothing_happened(
    undo: Undo,
) -> None:
    (undo.root / "a").write_text("1")
    (undo.root / "b").write_text("1")
    places = [undo.root / "a", undo.root / "b"]
    await undo.snapshots.before_change(undo.session, 1, "call", places)
    (undo.root / "b").write_text("2")

    restored = await undo.restore(1)

    reason = "the program ended while it was being changed, so the right content is not known"
    assert restored == Restored((places[0],), (Conflict(places[1], reason),))
    assert (undo.root / "b").read_text() == "2"


async def test_a_call_that_changed_nothing_leaves_no_record(undo: Undo) -> None:
    (undo.root / "a").write_text("1")

    await undo.change(1, lambda: None, "a", "missing/b")

    assert await undo.store.changes.since(undo.session, 0) == ()


async def test_what_cannot_be_kept_is_not_changed(undo: Undo) -> None:
    (undo.root / "sub").symlink_to(undo.root)
    done: list[str] = []

    with pytest.raises(ToolError, match="No copy could be stored"):
        await undo.change(1, lambda: done.append("changed"), "sub/a")

    assert done == []


async def test_a_damaged_copy_restores_nothing(undo: Undo, tmp_path: Path) -> None:
    path = undo.root / "a"
    path.write_text("1")
    await undo.change(1, lambda: path.write_text("2"), "a")
    for blob in (tmp_path / "data/blobs").glob("??/*"):
        blob.write_bytes(b"?")

    restored = await undo.restore(1)

    assert (restored.paths, len(restored.conflicts), path.read_text()) == ((), 1, "2")
    assert list(undo.tree()) == ["a"]


PLACES = ("a", "b", "d/a", "d/e/b", "d")
WRITE, REMOVE, MODE, LINK, FOLDER, MOVE = "write", "remove", "mode", "link", "folder", "move"
edits = st.tuples(
    st.sampled_from([WRITE, WRITE, REMOVE, MODE, LINK, FOLDER, MOVE]),
    st.sampled_from(PLACES),
    st.sampled_from(PLACES),
    st.binary(max_size=8),
    st.sampled_from([0o644, 0o600, 0o755, 0o444]),
)
Edit = tuple[str, str, str, bytes, int]


def do(root: Path, edit: Edit) -> None:
    """Make an edit if it is possible now; nothing goes through a link."""
    name, place, other, content, mode = edit
    path, target = root / place, root / other
    if any(parent.is_symlink() or parent.is_file() for parent in (*path.parents, *target.parents)):
        return
    is_there, is_file = os.path.lexists(path), path.is_file() and not path.is_symlink()
    if name == WRITE and (is_file or not is_there):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
    elif name == REMOVE and is_there and not (path.is_dir() and not path.is_symlink()):
        path.unlink()
    elif name == MODE and is_file:
        path.chmod(mode)
    elif name == LINK and not is_there:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.fsdecode(content.replace(b"\0", b"-") or b"x"))
    elif name == FOLDER and not is_there:
        path.mkdir(parents=True)
    elif name == MOVE and is_file and not os.path.lexists(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)


async def play(folder: Path, turns: list[list[Edit]], back_to: int, meddling: Edit | None) -> None:
    """Make the turns, undo to one of them and redo; then again after somebody interfered."""
    async with opened(folder) as undo:
        trees = [undo.tree()]
        for number, turn in enumerate(turns, start=1):
            for edit in turn:
                # Refused if a link is on the way: then nothing was done.
                with contextlib.suppress(ToolError):
                    await undo.change(number, partial(do, undo.root, edit), edit[1], edit[2])
            trees.append(undo.tree())
        back_to = back_to % len(turns) + 1
        assert (await undo.restore(back_to)).conflicts == ()
        assert undo.tree() == trees[back_to - 1]
        assert (await undo.redo(back_to)).conflicts == ()
        assert undo.tree() == trees[-1]
        if meddling is not None:
            await meddle(undo, back_to, meddling)


async def meddle(undo: Undo, back_to: int, meddling: Edit) -> None:
    """What somebody else changed stays, whatever else is restored."""
    before = undo.tree()
    do(undo.root, meddling)
    theirs = {path: what for path, what in undo.tree().items() if before.get(path) != what}
    await undo.restore(back_to)
    left = undo.tree()
    assert {path: left.get(path) for path in theirs} == theirs


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=4),
    st.integers(0, 3),
    st.none() | edits,
)
def test_any_sequence_of_edits_is_undone_exactly(
    turns: list[list[Edit]], back_to: int, meddling: Edit | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(os.path.realpath(folder)), turns, back_to, meddling))


async def test_what_a_session_did_to_each_file_is_known(undo: Undo) -> None:
    kept, gone, made, same = (undo.root / name for name in ("kept", "gone", "made", "same"))
    for path in (kept, gone, same):
        path.write_text("old")
        path.chmod(0o640)
    await undo.change(1, lambda: kept.write_text("one"), "kept")

    def second() -> None:
        kept.write_text("two")
        gone.unlink()
        made.write_text("new")

    await undo.change(2, second, "kept", "gone", "made")
    await undo.change(3, lambda: same.write_text("other"), "same")
    await undo.change(3, lambda: same.write_text("old"), "same")

    assert await undo.snapshots.changed(undo.session, 1) == (
        ChangedFile(gone, 2, b"old", None, mode_before=0o640),
        ChangedFile(kept, 2, b"old", b"two", mode_before=0o640),
        ChangedFile(made, 2, None, b"new"),
    )
    assert [(file.path.name, file.before) for file in await undo.snapshots.changed(undo.session, 2)] == [
        ("gone", b"old"),
        ("kept", b"one"),
        ("made", None),
    ]
