"""Undo reverts what the agent did, whatever else happened in the folder while it worked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.undo.undo import NOTHING_KEPT
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.commands.base import Say as Intended
from coder_tui.commands.session import report, undo
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, SubagentEvent, ToolProgressed
from coder_tui.storage.store import Store
from coder_tui.workspace.undo.command_snapshots import CUT_OFF
from coder_tui.workspace.undo.snapshots import NO_COPY
from tests.agent.undo.test_undo_folders import allow, bash
from tests.fakes.family import DONE, calls, finish, fork, home
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel
from tests.workspace.trees import tree_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("a = 1\n")
    (project / "notes.txt").write_text("old\n")
    return project


@asynccontextmanager
async def working(
    project: Path, *replies: Say, settings: str = "", resumed: str = ""
) -> AsyncIterator[Session]:
    if settings:
        (project.parent / "config").mkdir()
        (project.parent / "config" / "config.toml").write_text(settings)
    setup = setup_in(project.parent, project, Mode.AUTO)
    store = await Store.open(setup.directories.database)
    core = SessionFactory(setup, store, ScriptedModel(replies), ModelChoice("scripted"))
    session = await (core.resume(resumed) if resumed else core.new_session())
    allow(session)
    yield session
    await session.close()
    await core.close()


def write(path: str, content: str) -> Say:
    return Say(calls=(("write", {"path": path, "content": content}),))


async def test_what_happens_while_a_check_runs_is_not_the_turns(project: Path) -> None:
    check = '[verify]\ncommand = "echo mine > notes.txt; echo mine > b.py; echo new > new.txt"\n'
    replies = (write("b.py", "b = 1\n"), write("c.py", "c = 1\n"), Say("Done."))
    async with working(project, *replies, settings=check) as session:
        await session.submit("go")
        undone = await session.turns.undo()

    assert undone.conflicts == (("b.py", "it has changed since"),)
    assert {name: content for name, (_, content, _) in tree_of(project).items()} == {
        "a.py": b"a = 1\n",
        "b.py": b"mine\n",
        "new.txt": b"new\n",
        "notes.txt": b"mine\n",
    }


async def test_what_was_saved_while_a_command_ran_is_named_and_stays_within_reach(
    project: Path,
) -> None:
    # The command stands for both: nobody can tell the user's save from its own.
    save = "echo mine > notes.txt; mkdir new; echo mine > new/own.txt; rm a.py"
    async with working(project, bash(save), Say("Done."), Say("Else.")) as session:
        await session.submit("go")
        undone = await session.turns.undo()
        await session.submit("something else")
        intent = await undo(session, "kept 1")
        found = await session.turns.export_undone(1)

    assert undone.seen == ("new/own.txt", "notes.txt")
    reported = report(undone, "Undone").splitlines()
    assert reported[2] == (
        "Changed while a command ran, by it or by you: new/own.txt, notes.txt. "
        "/undo kept 1 saves what undo removed to a folder, also later."
    )
    assert found.names == ("1/new/own.txt", "1/notes.txt")
    assert isinstance(intent, Intended)
    assert "2 files in" in intent.text
    assert {name: content for name, (_, content, _) in tree_of(found.folder).items() if content} == {
        "1/new/own.txt": b"mine\n",
        "1/notes.txt": b"mine\n",
    }
    assert found.folder.parent == project.parent / "data" / "undone"


@pytest.mark.parametrize("turn", ["x", "-1", "9" * 20, "9" * 5000])
async def test_a_turn_that_is_no_number_of_one_is_asked_for_again(project: Path, turn: str) -> None:
    async with working(project) as session:
        intent = await undo(session, f"kept {turn}")

    assert isinstance(intent, Intended)
    assert intent.text == "Name the first turn, for example: /undo kept 3"


async def test_what_was_not_covered_is_reported_with_its_own_turn_only(project: Path) -> None:
    replies = (bash("git init -q . && echo b > b.py"), Say("Done."), write("c.py", "c = 1\n"), Say("Done."))
    async with working(project, *replies) as session:
        await session.submit("go")
        first = await session.turns.undo()
        await session.submit("something else")
        second = await session.turns.undo()

    assert (bool(first.uncovered), second.uncovered) == (True, "")


async def test_each_content_that_a_file_had_after_a_command_is_within_reach(project: Path) -> None:
    replies = (bash("echo first > notes.txt"), bash("echo second > notes.txt"), Say("Done."))
    async with working(project, *replies) as session:
        await session.submit("go")
        await session.turns.undo()
        found = await session.turns.export_undone(1)

    assert found.names == ("1/notes.txt", "1/notes.txt~1")
    assert (found.folder / "1/notes.txt").read_text() == "second\n"
    assert (found.folder / "1/notes.txt~1").read_text() == "first\n"


async def test_a_file_of_which_no_copy_could_be_kept_is_not_taken_back(project: Path) -> None:
    async with working(project, bash("echo mine > notes.txt"), Say("Done.")) as session:
        await session.submit("go")
        for blob in (project.parent / "data" / "blobs").glob("??/*"):
            if blob.read_text() == "mine\n":
                blob.unlink()
        undone = await session.turns.undo()

    assert undone.conflicts == (("notes.txt", NO_COPY),)
    assert (project / "notes.txt").read_text() == "mine\n"


async def test_edits_made_while_no_command_ran_are_not_named(project: Path) -> None:
    async with working(project, write("b.py", "b = 1\n"), Say("Done.")) as session:
        await session.submit("go")
        undone = await session.turns.undo()
        with pytest.raises(UserError, match=NOTHING_KEPT):
            await session.turns.export_undone(1)

    assert (undone.seen, undone.uncovered) == ((), "")


async def test_what_no_undo_covers_is_said_after_a_resume_as_well(project: Path) -> None:
    (project / ".git").mkdir()
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (project / ".gitignore").write_text("*.txt\n")
    replies = (bash("rm notes.txt; echo 'a = 2' > a.py"), Say("Done."))
    async with working(project, *replies) as session:
        await session.submit("go")
        identity = session.id
    async with working(project, resumed=identity) as session:
        undone = await session.turns.undo()

    assert undone.uncovered.startswith("Undo does not cover notes.txt (ignored by git); nor .git,")
    assert undone.paths == ("a.py",)


async def test_a_command_that_a_kill_cut_off_is_said(project: Path) -> None:
    async with working(project, Say("Done.")) as session:
        await session.submit("go")
        store = await Store.open(setup_in(project.parent, project, Mode.AUTO).directories.database)
        await store.command_records.begin(session.id, 1, {})
        await store.close()
        undone = await session.turns.undo()

    assert undone.uncovered.startswith(CUT_OFF)
    assert report(undone, "Undone").startswith("Undone: turn 1, messages; no file is known to have changed.")


async def test_edits_of_one_sub_agent_during_a_command_of_another_are_undone(tmp_path: Path) -> None:
    # Each waits for the other, so that the edit falls between the looks before and after the command.
    waits = "echo began; while [ ! -e b.txt ]; do sleep 0.01; done; echo made > made.txt"
    script = {
        "go": [fork({"objective": "command"}, {"objective": "edit"}), DONE],
        "command": [calls("bash", command=waits), finish("c")],
        "edit": [calls("write", path="b.txt", content="from the edit\n"), finish("e")],
    }
    async with home(tmp_path, script, mode=Mode.AUTO) as here:
        allow(here.session)
        before = tree_of(here.project)
        may_edit = here.model.holding["edit"] = asyncio.Event()

        def on_event(event: Event) -> None:
            if isinstance(event, SubagentEvent) and isinstance(event.event, ToolProgressed):
                may_edit.set()

        here.session.subscribe(on_event)
        await here.session.submit("go")
        undone = await here.session.turns.undo()

        assert undone.conflicts == ()
        assert set(undone.paths) == {"b.txt", "made.txt"}
        assert tree_of(here.project) == before
