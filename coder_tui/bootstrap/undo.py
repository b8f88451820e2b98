"""What a session keeps so that its turns can be undone; old copies are deleted in the background."""

import asyncio
import contextlib
import logging
import os
import threading
import time
from hashlib import sha256
from pathlib import Path

from coder_tui.agent.session import Session
from coder_tui.agent.session_state import SessionContext
from coder_tui.agent.undo.file_changes import (
    CommandChangeTracker,
    CommandTracker,
    SessionChanges,
    UntrackedCommands,
)
from coder_tui.bootstrap.setup import Setup, workspace_of
from coder_tui.protocol.errors import StorageError
from coder_tui.storage.blobs import BlobStore, CopyAges
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.git import Git, GitObjects, ReadOnly
from coder_tui.workspace.undo.command_snapshots import CommandSnapshots
from coder_tui.workspace.undo.prune import CopyLimits, prune_copies, prune_trees
from coder_tui.workspace.undo.snapshots import SnapshotStore
from coder_tui.workspace.undo.tree_copies import TreeCopies
from coder_tui.workspace.undo.tree_survey import SurveyLimits

BLOBS = "blobs"
COPIES = "copies"
UNDONE = "undone"


def blobs_of(setup: Setup) -> BlobStore:
    return BlobStore(setup.directories.data / BLOBS)


def build_changes(setup: Setup, context: SessionContext) -> SessionChanges:
    snapshots = SnapshotStore(context.store.changes, blobs_of(setup))
    undone = setup.directories.data / UNDONE
    commands = _command_tracker(setup, context)
    return SessionChanges(snapshots, context.id, lambda: context.state.turn, undone, commands)


def _command_tracker(setup: Setup, context: SessionContext) -> CommandTracker:
    undo = setup.settings.undo
    if not undo.commands:
        return UntrackedCommands()
    workspace = workspace_of(setup)
    roots = (workspace.root, *workspace.extra_roots)
    limits = SurveyLimits(undo.most_files, round(undo.largest_file_mb * 1_000_000))
    copies = TreeCopies(_copies_of(setup, workspace), roots, limits)
    objects = GitObjects(Git(workspace, ReadOnly(setup.sandbox)), workspace.root)
    snapshots = CommandSnapshots(
        context.store.command_records, blobs_of(setup), copies, objects, workspace.root
    )
    is_guarded = setup.sandbox.guards_everything
    return CommandChangeTracker(snapshots, context.id, lambda: context.state.turn, is_git_guarded=is_guarded)


def _copies_of(setup: Setup, workspace: Workspace) -> Path:
    name = sha256(os.fsencode(workspace.root)).hexdigest()[:16]
    return setup.directories.cache / COPIES / name


log = logging.getLogger(__name__)
AFTER_START = 10.0
"""Seconds: a program that has just started has more urgent work."""
EVERY = 6 * 3600.0
_DAY = 86_400.0
_STAMP = "pruned"


class Pruning:
    """Prunes once for a program. It never fails a session: what failed is tried the next time."""

    def __init__(self, setup: Setup, copies: CopyAges, delay: float = AFTER_START) -> None:
        self._setup = setup
        self._copies = copies
        self._delay = delay
        self._is_over = threading.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if not self._setup.is_scratch:
            self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop before the store closes: a thread that removes files ends after the current one."""
        self._is_over.set()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        await asyncio.sleep(self._delay)
        setup = self._setup
        if not await asyncio.to_thread(_is_due, setup.directories.data / _STAMP):
            return
        trees = setup.directories.cache / COPIES
        try:
            await prune_copies(self._copies, blobs_of(setup), trees, room_of(setup), self._should_continue)
            undone = setup.directories.data / UNDONE
            await asyncio.to_thread(prune_trees, undone, room_of(setup), self._should_continue)
        except (StorageError, OSError) as error:
            log.warning("old copies were not deleted: %s", error)

    def _should_continue(self) -> bool:
        return not self._is_over.is_set()


def start_pruning(setup: Setup, session: Session) -> None:
    """Prune in the background while the session is open."""
    pruning = Pruning(setup, session.context.store.copies)
    session.on_close(pruning.close)
    pruning.start()


def room_of(setup: Setup) -> CopyLimits:
    undo = setup.settings.undo
    return CopyLimits(time.time() - undo.keep_days * _DAY, round(undo.keep_mb * 1_000_000))


def _is_due(stamp: Path) -> bool:
    """Return whether the last pruning is long ago; if so, mark it as done now."""
    try:
        if stamp.stat().st_mtime > time.time() - EVERY:
            return False
    except FileNotFoundError:
        pass
    with contextlib.suppress(OSError):
        stamp.touch(mode=0o600)
        return True
    return False
