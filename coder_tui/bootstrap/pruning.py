"""Gives up old copies behind a session's back, now and then."""

import asyncio
import contextlib
import logging
import threading
import time
from pathlib import Path

from coder_tui.agent.session import Session
from coder_tui.bootstrap.session_factory import Core
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.undo import COPIES, UNDONE, blobs_of
from coder_tui.protocol.errors import StorageError
from coder_tui.workspace.undo.prune import Room, prune_copies, prune_trees

log = logging.getLogger(__name__)
AFTER_START = 10.0
"""Seconds: whoever just started has other things to wait for."""
EVERY = 6 * 3600.0
_DAY = 86_400.0
_STAMP = "pruned"


class Pruning:
    """One for a program. It never fails a session: what could not be done is done the next time."""

    def __init__(self, core: Core, delay: float = AFTER_START) -> None:
        self._core = core
        self._delay = delay
        self._is_over = threading.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if not self._core.setup.is_scratch:
            self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Before the store is: a thread that removes files ends with the one at hand."""
        self._is_over.set()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        await asyncio.sleep(self._delay)
        setup = self._core.setup
        if not await asyncio.to_thread(_is_due, setup.directories.data / _STAMP):
            return
        trees = setup.directories.cache / COPIES
        try:
            await prune_copies(self._core.store, blobs_of(setup), trees, room_of(setup), self._goes_on)
            undone = setup.directories.data / UNDONE
            await asyncio.to_thread(prune_trees, undone, room_of(setup), self._goes_on)
        except (StorageError, OSError) as error:
            log.warning("old copies were not given up: %s", error)

    def _goes_on(self) -> bool:
        return not self._is_over.is_set()


def prune_beside(core: Core, session: Session) -> None:
    """As long as the session is open."""
    pruning = Pruning(core)
    session.on_close(pruning.close)
    pruning.start()


def room_of(setup: Setup) -> Room:
    undo = setup.settings.undo
    return Room(time.time() - undo.keep_days * _DAY, round(undo.keep_mb * 1_000_000))


def _is_due(stamp: Path) -> bool:
    """Whether nobody did it lately; if so, it counts as done from now on."""
    try:
        if stamp.stat().st_mtime > time.time() - EVERY:
            return False
    except FileNotFoundError:
        pass
    with contextlib.suppress(OSError):
        stamp.touch(mode=0o600)
        return True
    return False
