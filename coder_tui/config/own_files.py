"""Writes a file of the program's own so that it is whole or as it was, and nobody else's to read.

The log file: where details go that a person does not need on the screen, without their secrets.
"""

import contextlib
import logging
import os
import tempfile
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
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


LOG_NAME = "coder-tui.log"
_MAX_BYTES = 1_000_000
# asyncio tells of failures that nobody waited for, with their tracebacks, otherwise on standard error.
_LOGGERS = ("coder_tui", "asyncio")


class _RedactingFormatter(logging.Formatter):
    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def start_log(folder: Path, redact: Callable[[str], str]) -> Path:
    """Send the log records of the program and of its event loop to the file, and nothing to the terminal."""
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
