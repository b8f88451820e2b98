"""What a session's tools change can be undone, turn by turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.storage.store import Store
from coder_tui.workspace.undo.snapshots import Restored
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


@asynccontextmanager
async def core(project: Path, *replies: Say) -> AsyncIterator[SessionFactory]:
    setup = setup_in(project.parent, project, Mode.EDITS)
    store = await Store.open(setup.directories.database)
    made = SessionFactory(setup, store, ScriptedModel(replies), ModelChoice("scripted"))
    yield made
    await made.close()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): (path.read_text(), path.stat().st_mode & 0o777) for path in files}


def write(path: str, content: str) -> tuple[str, dict[str, str]]:
    return "write", {"path": path, "content": content}


def edit(path: str, old: str, new: str) -> tuple[str, dict[str, str]]:
    return "edit", {"path": path, "old_string": old, "new_string": new}


async def test_each_turn_can_be_taken_back(project: Path) -> None:
    first = Say(calls=(write("new/a.txt", "one\n"),))
    second = Say(calls=(edit("new/a.txt", "one", "two"), edit("b.txt", "old", "new")))
    (project / "b.txt").write_text("old\n")
    async with core(project, first, Say("Done."), second, Say("Done.")) as made:
        session = await made.new_session()
        await session.submit("go")
        await session.submit("go on")
        changed = (project / "new/a.txt").read_text(), (project / "b.txt").read_text()
        second_back = await made.snapshots.restore(session.id, 2)
        between = (project / "new/a.txt").read_text(), (project / "b.txt").read_text()
        first_back = await made.snapshots.restore(session.id, 1)
        await session.close()

    assert (changed, between) == (("two\n", "new\n"), ("one\n", "old\n"))
    assert second_back == Restored((project / "b.txt", project / "new/a.txt"), ())
    assert first_back == Restored(
        (project / "new/a.txt", project / "new"), (), folders=frozenset({project / "new"})
    )
    assert names(project) == ["b.txt"]


PATCH = """--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-going
diff --git a/old name.txt b/deep/new name.txt
similarity index 50%
rename from old name.txt
rename to deep/new name.txt
--- a/old name.txt
+++ b/deep/new name.txt
@@ -1 +1 @@
-moved
+moved and changed
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
"""


async def test_a_patch_that_removes_renames_and_changes_modes_is_taken_back(project: Path) -> None:
    for name, content in (("gone.txt", "going\n"), ("old name.txt", "moved\n"), ("run.sh", "echo\n")):
        (project / name).write_text(content)
    before = contents(project)
    patched = Say(calls=(("patch", {"patch": PATCH}),))
    async with core(project, patched, Say("Done.")) as made:
        session = await made.new_session()
        await session.submit("go")
        after = contents(project)
        restored = await made.snapshots.restore(session.id, 1)
        await session.close()

    assert after == {"deep/new name.txt": ("moved and changed\n", 0o644), "run.sh": ("echo\n", 0o755)}
    assert (restored.conflicts, contents(project)) == ((), before)
    assert not (project / "deep").exists()


async def test_turns_are_counted_on_where_a_session_is_resumed(project: Path) -> None:
    first, second = Say(calls=(write("a", "1"),)), Say(calls=(edit("a", "1", "2"),))
    async with core(project, first, Say("Done.")) as made:
        session = await made.new_session()
        await session.submit("go")
        await session.close()
    async with core(project, second, Say("Done.")) as made:
        session = await made.resume(session.id)
        await session.submit("go on")
        await made.snapshots.restore(session.id, 2)
        await session.close()

    assert (project / "a").read_text() == "1"


async def test_refused_and_reading_calls_leave_no_record(project: Path) -> None:
    (project / "a").write_text("unseen")
    calls = (write("a", "over it"), ("read", {"path": "a"}), write(".git/config", "x"))
    async with core(project, Say(calls=calls), Say("Done.")) as made:
        session = await made.new_session()
        await session.submit("go")
        changes = await made.store.changes.since(session.id, 0)
        await session.close()

    assert (changes, (project / "a").read_text()) == ((), "unseen")


async def test_a_copy_that_cannot_be_kept_stops_the_turn_before_the_change(project: Path) -> None:
    (project / "a").write_text("old")
    async with core(project, Say(calls=(edit("a", "old", "new"),)), Say("Done.")) as made:
        (made.setup.directories.data / "blobs").write_text("a file in the way")
        session = await made.new_session()
        await session.submit("go")
        await session.close()

    assert (project / "a").read_text() == "old"
