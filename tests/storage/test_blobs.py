"""Contents are stored once, completely, and privately."""

import fcntl
import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.blobs import SETTLED_SEC, BlobStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def blobs(folder: Path) -> BlobStore:
    return BlobStore(folder)


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("content", [b"", b"x", b"\0\xff" * 2_000_000])
def test_a_content_comes_back(blobs: BlobStore, content: bytes) -> None:
    digest = blobs.put((content[:7], content[7:]))

    assert digest == hashlib.sha256(content).hexdigest()
    assert b"".join(blobs.chunks(digest)) == content


def test_the_same_content_is_kept_once(blobs: BlobStore, folder: Path) -> None:
    first, second = blobs.put((b"same",)), blobs.put((b"sa", b"me"))

    assert (first, len(files(folder))) == (second, 1)


def test_copies_are_private(blobs: BlobStore, folder: Path) -> None:
    mask = os.umask(0)
    try:
        blobs.put((b"x",))
    finally:
        os.umask(mask)

    modes = {stat.S_IMODE(path.stat().st_mode) for path in files(folder)}
    folders = {stat.S_IMODE(path.stat().st_mode) for path in (folder, *(folder.glob("??")))}
    assert (modes, folders) == ({0o600}, {0o700})


def test_a_damaged_content_is_an_error(blobs: BlobStore, folder: Path) -> None:
    digest = blobs.put((b"right",))
    files(folder)[0].write_bytes(b"wrong")

    with pytest.raises(StorageError, match="is damaged"):
        b"".join(blobs.chunks(digest))


def test_a_truncated_content_is_replaced_when_stored_again(blobs: BlobStore, folder: Path) -> None:
    digest = blobs.put((b"whole",))
    files(folder)[0].write_bytes(b"wh")

    blobs.put((b"whole",))

    assert b"".join(blobs.chunks(digest)) == b"whole"


def test_a_missing_content_is_an_error(blobs: BlobStore) -> None:
    with pytest.raises(StorageError, match="too old to undo"):
        b"".join(blobs.chunks("0" * 64))


def test_a_source_that_fails_leaves_nothing(blobs: BlobStore, folder: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise OSError(5, "Input/output error")

    with pytest.raises(StorageError, match="Input/output error"):
        blobs.put(broken())

    assert files(folder) == []


def test_only_old_unused_contents_are_pruned(blobs: BlobStore, folder: Path) -> None:
    wanted, old, fresh = (blobs.put((word,)) for word in (b"wanted", b"old", b"fresh"))
    for digest in (wanted, old):
        past = time.time() - 7200
        os.utime(folder / digest[:2] / digest[2:], (past, past))

    assert blobs.prune(frozenset({wanted})) == 1
    assert sorted(path.parent.name + path.name for path in files(folder)) == sorted([wanted, fresh])


def test_a_content_stored_again_during_pruning_stays(blobs: BlobStore, folder: Path) -> None:
    digest = blobs.put((b"old",))
    path = folder / digest[:2] / digest[2:]
    past = time.time() - 2 * SETTLED_SEC
    os.utime(path, (past, past))
    holding = os.open(folder, os.O_RDONLY)
    fcntl.flock(holding, fcntl.LOCK_SH)  # like a process that just found it
    is_looking = threading.Event()

    def look() -> bool:
        is_looking.set()
        return True

    pruning = threading.Thread(target=blobs.prune, args=(frozenset(), look))
    pruning.start()
    is_looking.wait()
    pruning.join(0.2)  # without waiting for the lock it would be done by now
    os.utime(path)  # so that it counts as new
    os.close(holding)
    pruning.join()

    assert path.exists()
