"""Keeps names free of content while commands run: a mount can only hide what is there.

An empty folder stands in for a guarded name that is missing, and is removed with the last command. It is a
folder whatever the name, for git does not record empty folders, and `rmdir` never removes a person's work.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_LEDGER = "made.json"


@dataclass(slots=True)
class Placeholders:
    """`folder` keeps, for each workspace, who uses its placeholders and which were made.

    A lock that all users share tells the last one, across programs; the ledger is written first, so that
    what a killed program left behind is removed by the next command.
    """

    folder: Path
    _inside: threading.Lock = field(default_factory=threading.Lock)

    @contextlib.contextmanager
    def held(self, root: Path, names: Iterable[Path]) -> Iterator[tuple[Path, ...]]:
        """The paths that exist meanwhile, each the person's own or a placeholder. Blocks."""
        keeper = self.folder / hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        keeper.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(keeper, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield self._make(keeper, lock, tuple(names))
        finally:
            try:
                self._clear(keeper, lock)
            finally:
                os.close(lock)

    def sweep(self) -> None:
        """Remove what killed programs left behind. Blocks."""
        for keeper in self.folder.iterdir() if self.folder.is_dir() else ():
            lock = os.open(keeper, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._clear(keeper, lock)
            finally:
                os.close(lock)

    def _make(self, keeper: Path, lock: int, names: tuple[Path, ...]) -> tuple[Path, ...]:
        with self._inside, _exclusive(keeper):
            fcntl.flock(lock, fcntl.LOCK_SH)
            missing = [name for name in names if not os.path.lexists(name)]
            made = _read(keeper)
            if not made.issuperset(map(str, missing)):
                _write(keeper, made.union(map(str, missing)))
            for name in missing:
                with contextlib.suppress(OSError):  # a root that may not be written needs no guard
                    name.mkdir(mode=0o555)
        return tuple(name for name in names if os.path.lexists(name))

    def _clear(self, keeper: Path, lock: int) -> None:
        with self._inside, _exclusive(keeper):
            fcntl.flock(lock, fcntl.LOCK_UN)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # another command still needs them
            for name in _read(keeper):
                with contextlib.suppress(OSError):  # the person put something there, or took it away
                    Path(name).rmdir()
            (keeper / _LEDGER).unlink(missing_ok=True)


def is_placeholder(path: Path) -> bool:
    """Whether what is at a guarded name only keeps it free: an empty folder that nobody may write."""
    try:
        mode = path.lstat().st_mode
        return stat.S_ISDIR(mode) and not mode & 0o222 and not any(path.iterdir())
    except OSError:
        return False


@contextlib.contextmanager
def _exclusive(keeper: Path) -> Iterator[None]:
    """One at a time: between looking and making, nobody removes."""
    turn = os.open(keeper / "turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
    finally:
        os.close(turn)


def _read(keeper: Path) -> frozenset[str]:
    try:
        return frozenset(json.loads((keeper / _LEDGER).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return frozenset()


def _write(keeper: Path, made: frozenset[str]) -> None:
    (keeper / _LEDGER).write_text(json.dumps(sorted(made)), encoding="utf-8")
