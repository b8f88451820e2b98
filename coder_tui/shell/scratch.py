"""A session's own temporary folder, which goes away with it, also when the program was killed."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path


class Scratch:
    """Made when it is first asked for. A lock on the folder says that it is in use."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent
        self._path: Path | None = None
        self._lock = -1

    def path(self) -> Path:
        """Blocks. What earlier runs left behind is removed first."""
        # Another program that starts right now may sweep it away before it is locked.
        while self._path is None or not self._path.is_dir():
            self.remove()
            self._parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            sweep(self._parent)
            made = Path(tempfile.mkdtemp(dir=self._parent))
            with contextlib.suppress(FileNotFoundError):
                self._lock = _open(made)
                fcntl.flock(self._lock, fcntl.LOCK_SH)
                self._path = made
        return self._path

    def remove(self) -> None:
        if self._path is not None:
            os.close(self._lock)
            _remove(self._path)
            self._path = None


def sweep(parent: Path) -> None:
    """Remove the folders that no living program holds."""
    for folder in parent.iterdir():
        try:
            lock = _open(folder)
        except OSError:
            continue  # another program removes it right now
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        else:
            _remove(folder)
        finally:
            os.close(lock)


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _remove(folder: Path) -> None:
    # A command may have taken its own rights away.
    for place, names, _ in os.walk(folder):
        for name in names:
            inner = Path(place, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
