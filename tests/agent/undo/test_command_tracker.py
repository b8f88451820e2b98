"""What a session's commands change is reported, and can be undone with their turn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, FilesChanged, RequestOpened, ToolProgressed, ToolStarted
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel
from tests.workspace.trees import tree_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("a = 1\n")
    return project


@asynccontextmanager
async def running(project: Path, *replies: Say) -> AsyncIterator[tuple[SessionFactory, Session, list[Event]]]:
    setup = setup_in(project.parent, project, Mode.ASK)
    store = await Store.open(setup.directories.database)
    core = SessionFactory(setup, store, ScriptedModel(replies), ModelChoice("scripted"))
    session, seen = await core.new_session(), []

    def watch(event: Event) -> None:
        seen.append(event)
        if isinstance(event, RequestOpened):
            session.answer(event.request.id, ApprovalReply(Decision.ALLOW_ONCE))

    session.subscribe(watch)
    yield core, session, seen
    await session.close()
    await core.close()


def stop_once_it_prints(session: Session, event: Event) -> None:
    if isinstance(event, ToolProgressed):
        session.interrupt()


def bash(command: str) -> tuple[str, dict[str, str]]:
    return "bash", {"command": command}


async def test_a_commands_changes_are_reported_and_taken_back_with_their_turn(project: Path) -> None:
    before = tree_of(project)
    replies = (Say(calls=(bash("echo 'a = 2' > src/a.py; mkdir out; echo x > out/x"),)), Say("Done."))
    async with running(project, *replies) as (core, session, seen):
        await session.submit("go")
        shown_texts = [event.paths for event in seen if isinstance(event, FilesChanged)]
        restored = await core.snapshots.restore(session.id, 1)

    assert shown_texts == [("out", "out/x", "src/a.py")]
    assert restored.conflicts == ()
    assert tree_of(project) == before


async def test_an_edit_and_a_command_on_one_file_are_taken_back_together(project: Path) -> None:
    edit = ("edit", {"path": "src/a.py", "old_string": "1", "new_string": "2"})
    replies = (Say(calls=(edit, bash("echo 'b = 3' >> src/a.py"))), Say("Done."))
    async with running(project, *replies) as (core, session, _):
        await session.submit("go")
        changed = (project / "src/a.py").read_text()
        restored = await core.snapshots.restore(session.id, 1)

    assert changed == "a = 2\nb = 3\n"
    assert restored.conflicts == ()
    assert (project / "src/a.py").read_text() == "a = 1\n"


async def test_a_command_that_is_stopped_midway_can_be_taken_back(project: Path) -> None:
    replies = (Say(calls=(bash("echo x > half; echo half; sleep 60"),)), Say("Done."))
    async with running(project, *replies) as (core, session, seen):
        session.subscribe(partial(stop_once_it_prints, session))
        await session.submit("go")
        shown_texts = [event.paths for event in seen if isinstance(event, FilesChanged)]
        restored = await core.snapshots.restore(session.id, 1)

    assert shown_texts == [("half",)]
    assert restored.paths == (project / "half",)
    assert not (project / "half").exists()


async def test_nothing_is_copied_for_a_command_that_only_looks(project: Path) -> None:
    replies = (Say(calls=(bash("cat src/a.py"),)), Say("Done."))
    async with running(project, *replies) as (core, session, seen):
        await session.submit("go")

    assert any(isinstance(event, ToolStarted) for event in seen)
    assert not (core.setup.directories.cache / "copies").exists()
