"""Writes a file of the program's own so that it is whole or as it was, and nobody else's to read."""

import contextlib
import os
import tempfile
from pathlib import Path

OWNER_ONLY = 0o600


def write_private(path: Path, data: bytes, mode: int = OWNER_ONLY) -> None:
    """Put the file in place at once. Raises OSError."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
