"""Write the program's own files: private, and either complete or unchanged. Also starts the log file."""

import contextlib
import logging
import os
import tempfile
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path

OWNER_ONLY = 0o600


def write_private(path: Path, data: bytes, mode: int = OWNER_ONLY) -> None:
    """Write the file atomically. Raises OSError."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


LOG_NAME = "coder-tui.log"
_MAX_BYTES = 1_000_000
# asyncio reports failed tasks that nothing awaits, with tracebacks, otherwise to standard error.
_LOGGERS = ("coder_tui", "asyncio")


class _RedactingFormatter(logging.Formatter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def start_log(folder: Path, redact: Callable[[str], str]) -> Path:
    """Send the log records of the program and its event loop to a file, without secrets."""
    path = folder / LOG_NAME
    handler = RotatingFileHandler(path, maxBytes=_MAX_BYTES, backupCount=1, delay=True, encoding="utf-8")
    handler.setFormatter(_RedactingFormatter(redact))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        for old in tuple(logger.handlers):
            logger.removeHandler(old)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    return path
