"""What the user rejects is undone on disk, and the agent hears of it in one message."""

import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.undo.review import WHOLE, Reviewed, compared
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.diffs.hunks import patch, split_hunk
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, FilesChanged
from coder_tui.storage.store import Store
from coder_tui.workspace.undo.changed_files import ChangedFile
from coder_tui.workspace.undo.restore import RevertError
from coder_tui.workspace.undo.snapshots import Restored
from tests.diffs.git import undone_by_git
from tests.diffs.texts import random_edit, random_text
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel

OLD = "".join(f"{n}\n" for n in range(1, 31))
NEW = OLD.replace("2\n3\n", "2\nthree\n", 1).replace("25\n", "", 1)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    return project


@asynccontextmanager
async def session_that(
    project: Path, *calls: tuple[str, dict[str, str]]
) -> AsyncIterator[tuple[SessionFactory, Session]]:
    """A session whose first turn made these calls."""
    setup = setup_in(project.parent, project, Mode.EDITS)
    store = await Store.open(setup.directories.database)
    core = SessionFactory(
        setup, store, ScriptedModel([Say(calls=calls), Say("Done.")]), ModelChoice("scripted")
    )
    session = await core.new_session()
    await session.submit("go")
    yield core, session
    await session.close()
    await core.close()


def write(path: str, content: str) -> tuple[str, dict[str, str]]:
    return "write", {"path": path, "content": content}


def rewrite(path: str, content: str) -> tuple[tuple[str, dict[str, str]], ...]:
    return ("read", {"path": path}), write(path, content)


async def reviewed(session: Session) -> tuple[Reviewed, ...]:
    files = await session.changed_files()
    return tuple(Reviewed(file, compared(file, session.directory)) for file in files)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def rejecting(file: Reviewed, *places: int) -> Reviewed:
    return replace(file, rejected=frozenset(file.units[place] for place in places))


async def test_a_rejected_hunk_is_undone_and_reported(project: Path) -> None:
    (project / "a.txt").write_text(OLD)
    events: list[Event] = []
    async with session_that(project, *rewrite("a.txt", NEW)) as (_, session):
        session.subscribe(events.append)
        (file,) = await reviewed(session)
        first, second = file.units
        file = replace(file, rejected=frozenset([first]), comments={first: "keep digits", second: "why?"})
        message = await session.review.settle([file])
        left = await reviewed(session)

    assert (project / "a.txt").read_text() == OLD.replace("25\n", "", 1)
    assert [each.units for each in left] == [(second,)]
    assert events == [FilesChanged(("a.txt",))]
    assert message == (
        "I reviewed your changes.\n\n"
        "I rejected these, and they are undone on disk already (read the file again before you edit it):\n\n"
        "a.txt, line 3\n"
        "```diff\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n```\n"
        "My comment: keep digits\n\n"
        "I keep these, but have something to say:\n\n"
        "a.txt, after line 24\n"
        "```diff\n@@ -22,7 +22,6 @@\n 22\n 23\n 24\n-25\n 26\n 27\n 28\n```\n"
        "My comment: why?"
    )


async def test_a_new_file_goes_a_deleted_one_comes_back_with_its_mode(project: Path) -> None:
    (project / "gone.sh").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (project / "gone.sh").chmod(0o755)
    gone = "--- a/gone.sh\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"
    async with session_that(project, write("new.txt", "a\n"), ("patch", {"patch": gone})) as (_, session):
        files = await reviewed(session)
        assert [(each.comparison.path, each.comparison.state) for each in files] == [
            ("gone.sh", "deleted"),
            ("new.txt", "created"),
        ]
        await session.review.settle([rejecting(each, 0) for each in files])
        left = await session.changed_files()

    assert (project / "gone.sh").read_bytes() == b"\xef\xbb\xbfone\r\ntwo\r\n"
    assert (project / "gone.sh").stat().st_mode & 0o777 == 0o755
    assert list(contents(project)) == ["gone.sh"]
    assert left == ()


async def test_part_of_a_new_file_and_bytes_that_are_no_text_stay_as_they_are(project: Path) -> None:
    (project / "b.txt").write_bytes(b"caf\xe9\r\n" + b"same\r\n" * 10 + b"end\r\n")
    edit = ("edit", {"path": "b.txt", "old_string": "end", "new_string": "the end"})
    async with session_that(project, write("new.txt", "one\ntwo\nthree\n"), edit) as (_, session):
        changed, new = await reviewed(session)
        new = replace(new, comparison=split_hunk(new.comparison, new.units[0]))
        message = await session.review.settle([rejecting(changed, 0), rejecting(new, 1)])

    assert (project / "b.txt").read_bytes() == b"caf\xe9\r\n" + b"same\r\n" * 10 + b"end\r\n"
    assert (project / "new.txt").read_text() == "one\nthree\n"
    assert message.encode()


async def test_an_empty_new_file_is_rejected_as_a_whole(project: Path) -> None:
    async with session_that(project, write("empty.txt", "")) as (_, session):
        (file,) = await reviewed(session)
        assert file.units == (WHOLE,)
        message = await session.review.settle([rejecting(file, 0)])
    assert not (project / "empty.txt").exists()
    assert message.endswith("\n\nempty.txt (new file)")


async def test_a_file_that_changed_since_is_stale_and_nothing_at_all_is_undone(project: Path) -> None:
    async with session_that(project, write("a.txt", "a\n"), write("b.txt", "b\n")) as (_, session):
        files = await reviewed(session)
        (project / "b.txt").write_text("mine\n")
        assert await session.review.stale(each.file for each in files) == {project / "b.txt"}
        with pytest.raises(RevertError, match=r"b\.txt cannot be reverted"):
            await session.review.settle([rejecting(each, 0) for each in files])
        unchanged = await session.changed_files()
    assert contents(project) == {"a.txt": b"a\n", "b.txt": b"mine\n"}
    assert unchanged == tuple(each.file for each in files)


async def test_undoing_the_turn_covers_what_was_rejected(project: Path) -> None:
    (project / "a.txt").write_text(OLD)
    async with session_that(project, *rewrite("a.txt", NEW)) as (core, session):
        (file,) = await reviewed(session)
        await session.review.settle([rejecting(file, 0)])
        restored = await core.snapshots.restore(session.id, 1)
        undone = (project / "a.txt").read_text()
        await core.snapshots.redo(session.id, 1)
    assert restored == Restored((project / "a.txt",), ())
    assert undone == OLD
    assert (project / "a.txt").read_text() == OLD.replace("25\n", "", 1)


async def test_comments_alone_change_nothing(project: Path) -> None:
    async with session_that(project, write("a.txt", "a\n")) as (_, session):
        (file,) = await reviewed(session)
        message = await session.review.settle([replace(file, comments={file.units[0]: "```` is\nfine"})])
    assert (project / "a.txt").read_text() == "a\n"
    assert message.endswith("a.txt, line 1\n```diff\n@@ -0,0 +1,1 @@\n+a\n```\nMy comment: ```` is\nfine")


@pytest.mark.parametrize("seed", range(8))
async def test_rejecting_on_disk_equals_git_apply_backwards(project: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    old = random_text(chance, 80)
    new = random_edit(chance, old)
    file = ChangedFile(project / "a.txt", 1, old.encode(), new.encode())
    comparison = compared(file, project)
    some = some_of(chance, (hunk.id for hunk in comparison.hunks))
    if not some or "\0" in old + new:
        return
    async with session_that(project) as (_, session):
        (project / "a.txt").write_bytes(new.encode())
        await session.review.settle([Reviewed(file, comparison, some)])
    (tmp_path / "git").mkdir()
    expected = undone_by_git(tmp_path / "git", new, patch(comparison, some))
    assert (project / "a.txt").read_bytes().decode() == expected


def some_of(chance: random.Random, ids: Iterable[str]) -> frozenset[str]:
    return frozenset(id for id in ids if chance.random() < 0.6)
