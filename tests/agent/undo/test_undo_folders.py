"""Undo when folders were removed: those that the agent removed come back, those of the user do not."""

import shutil
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.undo.undo import UndoResult, UndoScope
from coder_tui.commands.session import report
from coder_tui.protocol.events import Event, RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.workspace.undo.restore import IN_ITS_PLACE
from tests.agent.undo.test_undo import core
from tests.fakes.scripted_model import Say
from tests.workspace.trees import tree_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src/deep").mkdir(parents=True)
    (project / "src/a.txt").write_text("one\n")
    (project / "src/deep/b.txt").write_text("bee\n")
    return project


def edit(path: str, old: str, new: str) -> Say:
    return Say(calls=(("edit", {"path": path, "old_string": old, "new_string": new}),))


async def test_a_folder_that_the_user_deleted_stays_away_and_its_files_are_conflicts(project: Path) -> None:
    make = Say(calls=(("create_file", {"path": "src/new/c.txt", "content": "sea\n"}),))
    async with core(project, edit("src/a.txt", "one", "two"), make, Say("Done.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        shutil.rmtree(project / "src")
        undone = await session.turns.undo()
        after_undo = tree_of(project)
        redone = await session.turns.redo()
        await session.close()

    assert undone.conflicts == (("src/a.txt", "it has changed since"),)
    assert after_undo == {}
    # What the agent had created is created again, though the user removed the folder around it.
    assert redone == UndoResult(1, "first", UndoScope.BOTH, ("src/new/", "src/new/c.txt"))
    assert report(redone, "Redone").splitlines() == [
        "Redone: turn 1, messages and 1 file and 1 folder.",
        "Files: src/new/, src/new/c.txt.",
    ]


def bash(command: str) -> Say:
    return Say(calls=(("bash", {"command": command}),))


def allow(session: Session) -> None:
    def answer(event: Event) -> None:
        if isinstance(event, RequestOpened):
            session.answer(event.request.id, ApprovalReply(Decision.ALLOW_ONCE))

    session.subscribe(answer)


async def test_a_folder_that_a_command_deleted_comes_back_whole(project: Path) -> None:
    before = tree_of(project)
    async with core(project, bash("rm -rf src"), Say("Gone.")) as (made, _):
        session = await made.new_session()
        allow(session)
        await session.submit("clean up")
        without = tree_of(project)
        undone = await session.turns.undo()
        await session.close()

    assert without == {}
    assert undone.conflicts == ()
    assert tree_of(project) == before


async def test_a_file_that_cannot_come_back_is_named_though_a_folder_is_what_stays(project: Path) -> None:
    async with core(project, bash("rm src/a.txt; mkdir src/a.txt"), Say("Done.")) as (made, _):
        session = await made.new_session()
        allow(session)
        await session.submit("first")
        (project / "src/a.txt/mine").write_text("the user's\n")
        undone = await session.turns.undo()
        await session.close()

    assert undone.conflicts == (("src/a.txt", IN_ITS_PLACE),)
    assert (project / "src/a.txt/mine").read_text() == "the user's\n"


async def test_files_alone_are_taken_back_of_a_turn_that_changed_a_link_and_a_folder(project: Path) -> None:
    (project / "link").symlink_to("src")
    before = tree_of(project)
    replies = (edit("src/a.txt", "one", "two"), Say("Done."), bash("ln -sfn nowhere link; mkdir new"))
    async with core(project, *replies, Say("Done.")) as (made, _):
        session = await made.new_session()
        allow(session)
        await session.submit("first")
        await session.submit("second")
        second = await session.turns.undo(UndoScope.FILES)
        first = await session.turns.undo(UndoScope.FILES)
        await session.close()

    assert (second.turn, set(second.paths)) == (2, {"link", "new/"})
    assert (first.turn, first.paths) == (1, ("src/a.txt",))
    assert tree_of(project) == before
