"""Rejected changes are reverted together, and never over what somebody else did."""

from pathlib import Path

import pytest

from coder_tui.storage.blobs import BlobStore
from coder_tui.workspace.undo.restore import Revert, RevertError, is_as_seen, revert_all


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def test_files_are_changed_made_and_removed_together(folder: Path, blobs: BlobStore) -> None:
    (folder / "changed").write_bytes(b"new")
    (folder / "changed").chmod(0o755)
    (folder / "made").write_bytes(b"it is new")
    reverts = [
        Revert(folder / "changed", b"new", b"old"),
        Revert(folder / "made", b"it is new", None),
        Revert(folder / "deep/gone", None, b"back\xff", 0o600),
    ]
    revert_all(reverts, blobs)
    assert (folder / "changed").read_bytes() == b"old"
    assert (folder / "changed").stat().st_mode & 0o777 == 0o755
    assert not (folder / "made").exists()
    assert (folder / "deep/gone").read_bytes() == b"back\xff"
    assert (folder / "deep/gone").stat().st_mode & 0o777 == 0o600


def test_one_file_that_changed_since_leaves_all_as_they_are(folder: Path, blobs: BlobStore) -> None:
    (folder / "a").write_bytes(b"new a")
    (folder / "b").write_bytes(b"somebody else's")
    with pytest.raises(
        RevertError, match=r"b cannot be reverted: it has changed since\. Nothing was changed\."
    ):
        revert_all(
            [Revert(folder / "a", b"new a", b"old a"), Revert(folder / "b", b"new b", b"old b")], blobs
        )
    assert ((folder / "a").read_bytes(), (folder / "b").read_bytes()) == (b"new a", b"somebody else's")


def test_what_was_done_is_done_back_when_a_later_file_fails(folder: Path, blobs: BlobStore) -> None:
    """A file is where a folder would have to be, which is only noticed at its turn."""
    (folder / "a").write_bytes(b"new a")
    (folder / "made").write_bytes(b"new")
    (folder / "in the way").write_bytes(b"")
    with pytest.raises(RevertError, match="Nothing was changed"):
        revert_all(
            [
                Revert(folder / "a", b"new a", b"old a"),
                Revert(folder / "made", b"new", None),
                Revert(folder / "in the way/gone", None, b"back"),
            ],
            blobs,
        )
    assert ((folder / "a").read_bytes(), (folder / "made").read_bytes()) == (b"new a", b"new")


def test_a_link_is_not_what_was_seen(folder: Path, blobs: BlobStore) -> None:
    (folder / "real").write_bytes(b"new")
    (folder / "link").symlink_to("real")
    assert is_as_seen(folder / "real", b"new")
    assert not is_as_seen(folder / "link", b"new")
    assert not is_as_seen(folder / "real", None)
    assert is_as_seen(folder / "nothing", None)
    with pytest.raises(RevertError, match="changed since"):
        revert_all([Revert(folder / "link", b"new", b"old")], blobs)
    assert (folder / "real").read_bytes() == b"new"
