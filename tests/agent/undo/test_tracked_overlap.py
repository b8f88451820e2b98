"""Commands that run at the same time can be undone together, whichever of them may write what."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from coder_tui.agent.undo.file_changes import CommandChangeTracker
from coder_tui.protocol.access import Mode
from coder_tui.shell.sandbox.sandbox import NOT_LOOKED_FOR
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.store import Store
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.git.git import Git, GitObjects, ReadOnly
from coder_tui.workspace.undo.command_snapshots import CommandSnapshots
from coder_tui.workspace.undo.snapshots import SnapshotStore
from coder_tui.workspace.undo.tree_copies import TreeCopies
from coder_tui.workspace.undo.tree_survey import SurveyLimits


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path / "store.db")
    yield opened
    await opened.close()


async def run(command: str, root: Path) -> None:
    await asyncio.to_thread(subprocess.run, command, shell=True, cwd=root, check=True, capture_output=True)


async def test_one_that_takes_gits_own_folder_away_takes_no_file_with_it(
    tmp_path: Path, store: Store
) -> None:
    root, blobs = tmp_path / "project", BlobStore(tmp_path / "blobs")
    root.mkdir()
    (root / "a.txt").write_text("precious\n")
    await run("git init -q && git add -A && git -c user.name=n -c user.email=e commit -qm first", root)
    info = await store.sessions.create(str(root), "m", Mode.ASK)
    copies = TreeCopies(tmp_path / "copies", (root,), SurveyLimits())
    objects = GitObjects(Git(Workspace(root), ReadOnly(NOT_LOOKED_FOR)), root)
    snapshots = CommandSnapshots(store.command_records, blobs, copies, objects, root)
    watch = CommandChangeTracker(snapshots, info.id, lambda: 1, is_git_guarded=True)

    async with watch.track("guarded", touches_git=False), watch.track("other", touches_git=True):
        await run("rm -rf .git a.txt", root)
    restored = await SnapshotStore(store.changes, blobs).restore(info.id, 1)

    assert restored.conflicts == ()
    assert (root / "a.txt").read_text() == "precious\n"
