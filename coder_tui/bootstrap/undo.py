"""What a session keeps so that its turns can be undone."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from coder_tui.agent.undo.file_changes import CommandWatch, NoWatch, SessionChanges, Watch
from coder_tui.bootstrap.setup import Setup, workspace_of
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.store import Store
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.git import Git, ReadOnly
from coder_tui.workspace.git.objects import GitObjects
from coder_tui.workspace.undo.command_snapshots import CommandSnapshots
from coder_tui.workspace.undo.snapshots import SnapshotStore
from coder_tui.workspace.undo.tree_copies import TreeCopies
from coder_tui.workspace.undo.tree_survey import SurveyLimits

BLOBS = "blobs"
COPIES = "copies"
UNDONE = "undone"


def blobs_of(setup: Setup) -> BlobStore:
    return BlobStore(setup.directories.data / BLOBS)


def session_changes(setup: Setup, store: Store, session_id: str, turn: Callable[[], int]) -> SessionChanges:
    watch = _watch(setup, store, session_id, turn)
    undone = setup.directories.data / UNDONE
    return SessionChanges(SnapshotStore(store, blobs_of(setup)), session_id, turn, undone, watch)


def _watch(setup: Setup, store: Store, session_id: str, turn: Callable[[], int]) -> Watch:
    undo = setup.settings.undo
    if not undo.commands:
        return NoWatch()
    workspace = workspace_of(setup)
    roots = (workspace.root, *workspace.extra_roots)
    limits = SurveyLimits(undo.most_files, round(undo.largest_file_mb * 1_000_000))
    copies = TreeCopies(_copies_of(setup, workspace), roots, limits)
    objects = GitObjects(Git(workspace, ReadOnly(setup.sandbox)), workspace.root)
    snapshots = CommandSnapshots(store, blobs_of(setup), copies, objects, workspace.root)
    is_guarded = setup.sandbox.guards_everything
    return CommandWatch(snapshots, session_id, turn, is_git_guarded=is_guarded)


def _copies_of(setup: Setup, workspace: Workspace) -> Path:
    name = sha256(os.fsencode(workspace.root)).hexdigest()[:16]
    return setup.directories.cache / COPIES / name
