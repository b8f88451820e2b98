"""Undo where folders went meanwhile: by the agent's hand they come back, by the person's they stay away."""

import shutil
from pathlib import Path

import pytest

from coder_tui.agent.undo import Moved, Reach
from coder_tui.commands.undo import report
from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.agent.test_undo import core
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


async def test_a_folder_that_the_person_deleted_stays_away_and_its_files_are_conflicts(project: Path) -> None:
    make = Say(calls=(("create_file", {"path": "src/new/c.txt", "content": "sea\n"}),))
    async with core(project, edit("src/a.txt", "one", "two"), make, Say("Done.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        shutil.rmtree(project / "src")
        undone = await session.turns.undo()
        after_undo = tree_of(project)
        redone = await session.turns.redo()
        await session.close()

    assert undone.conflicts == (("src/a.txt", "it was changed since"),)
    assert after_undo == {}
    # What the agent had made anew is made again, though the person took the folder around it away.
    assert redone == Moved(1, "first", Reach.BOTH, ("src/new/", "src/new/c.txt"))
    assert report(redone, "Made again").splitlines() == [
        "Made again: turn 1, what was said and 1 file and 1 folder.",
        "Files: src/new/, src/new/c.txt.",
    ]


async def test_a_folder_that_a_command_deleted_comes_back_whole(project: Path) -> None:
    before = tree_of(project)
    remove = Say(calls=(("bash", {"command": "rm -rf src"}),))
    async with core(project, remove, Say("Gone.")) as (made, _):
        session = await made.new_session()
        session.subscribe(
            lambda event: (
                session.answer(event.request.id, ApprovalReply(Decision.ALLOW_ONCE))
                if isinstance(event, RequestOpened)
                else None
            )
        )
        await session.submit("clean up")
        without = tree_of(project)
        undone = await session.turns.undo()
        await session.close()

    assert without == {}
    assert undone.conflicts == ()
    assert tree_of(project) == before
