"""Many small copies in few files: thousands are written before a command runs, hardly one is ever read."""

import contextlib
import os
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path

from coder_tui.protocol.errors import StorageError
from coder_tui.storage.claims import Claims

_SUFFIX = ".pack"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """Where a copy lies."""

    pack: str
    offset: int
    size: int


class PackWriter:
    """Appends copies to one new file, which is made when the first one comes.

    It does not wait for the disk: only a power failure loses a copy, and then the command is lost, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = f"{secrets.token_hex(8)}{_SUFFIX}"
        self._descriptor = -1
        self._size = 0

    def add(self, data: bytes) -> Place:
        if self._descriptor < 0:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(self._folder / self._name, _CREATE, 0o600)
        place = Place(self._name, self._size, len(data))
        done = 0
        while done < len(data):
            # At its own place: where the disk was full, half of another copy may lie there.
            done += os.pwrite(self._descriptor, data[done:], self._size + done)
        self._size += len(data)
        return place

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class Packs:
    """Its calls block. `folder` is private, and holds nothing that cannot be made again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def writer(self) -> PackWriter:
        return PackWriter(self._folder)

    def sizes(self) -> dict[str, int]:
        """Of each pack, by its name."""
        found: dict[str, int] = {}
        for path in self._folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):
                found[path.name] = path.stat().st_size
        return found

    def read(self, place: Place, digest: str) -> bytes:
        """A copy; `StorageError` when it is gone, or is not what was copied."""
        try:
            with (self._folder / place.pack).open("rb") as file:
                file.seek(place.offset)
                data = file.read(place.size)
        except OSError as error:
            raise StorageError(f"the copy from before is gone: {error.strerror}") from error
        if sha256(data).hexdigest() != digest:
            raise StorageError("the copy from before is damaged")
        return data

    def keep_only(self, names: Iterable[str]) -> None:
        """Remove the files in which nothing is of use any more."""
        for name in self.sizes().keys() - frozenset(names):
            (self._folder / name).unlink(missing_ok=True)


_claims: dict[Path, Claims] = {}
_guard = threading.Lock()


def own_folder(wanted: Path) -> tuple[Path, bool]:
    """A folder that no other process uses, and whether this one begins to; `wanted` itself where it is free.

    Two programs in one project must not take each other's copies away.
    """
    with _guard:
        claims = _claims.setdefault(wanted.parent, Claims(wanted.parent))
        wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for number in count(1):
            name = wanted.name if number == 1 else f"{wanted.name}-{number}"
            if claims.holds(name):
                return wanted.parent / name, False
            if claims.take(name):
                return wanted.parent / name, True
    raise RuntimeError("counting never ends")
