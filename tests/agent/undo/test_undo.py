"""A turn can be undone and redone: files, conversation, todos; the user's own work stays."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.undo.review import Reviewed, compared, units_of
from coder_tui.agent.undo.undo import NOTHING_TO_REDO, NOTHING_TO_UNDO, UndoResult, UndoScope
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, TodosChanged, ToolFinished, TurnStarted, UserMessageAdded
from coder_tui.protocol.messages import Message
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("one\n")
    return project


@asynccontextmanager
async def core(project: Path, *replies: Say) -> AsyncIterator[tuple[SessionFactory, ScriptedModel]]:
    setup = setup_in(project.parent, project, Mode.EDITS)
    store = await Store.open(setup.directories.database)
    model = ScriptedModel(replies)
    made = SessionFactory(setup, store, model, ModelChoice("scripted"))
    yield made, model
    await made.close()


def edit(old: str, new: str) -> Say:
    return Say(calls=(("edit", {"path": "a.txt", "old_string": old, "new_string": new}),))


def todo(content: str) -> Say:
    item = {"id": "1", "content": content, "status": "pending", "priority": "low"}
    return Say(calls=(("todowrite", {"todos": [item]}),))


def reported(message: Message) -> str:
    return message.content if message.role == "tool" else message.text


def said(session: Session) -> list[str]:
    return [event.text for event in session.history() if isinstance(event, UserMessageAdded)]


def todos(history: tuple[Event, ...]) -> list[str]:
    shown = [event for event in history if isinstance(event, TodosChanged)]
    return [item.content for item in shown[-1].items]


async def test_commands_outside_of_turns_return_to_their_place(project: Path) -> None:
    async with core(project, Say("First."), Say("Second.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.shell.run("echo one", is_shared=False)
        await session.submit("second")
        await session.shell.run("echo two", is_shared=False)

        def rows() -> list[str]:
            finished = (
                event for event in session.history() if isinstance(event, UserMessageAdded | ToolFinished)
            )
            return [
                event.text if isinstance(event, UserMessageAdded) else event.summary for event in finished
            ]

        await session.turns.undo()
        assert rows() == ["first", "echo one"]
        await session.turns.undo()
        assert rows() == []
        await session.turns.redo()
        await session.turns.redo()
        assert rows() == ["first", "echo one", "second", "echo two"]
        await session.close()


async def test_both_files_and_words_go_and_come_back(project: Path) -> None:
    replies = (edit("one", "two"), Say("First."), edit("two", "three"), Say("Second."))
    async with core(project, *replies) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        undone = await session.turns.undo()
        after_undo = (project / "a.txt").read_text(), said(session)
        again = await session.turns.undo()
        at_the_start = (project / "a.txt").read_text(), said(session)
        redone = await session.turns.redo()
        after_redo = (project / "a.txt").read_text(), said(session)
        await session.close()

    assert undone == UndoResult(2, "second", UndoScope.BOTH, ("a.txt",))
    assert after_undo == ("two\n", ["first"])
    assert again == UndoResult(1, "first", UndoScope.BOTH, ("a.txt",))
    assert at_the_start == ("one\n", [])
    assert redone == UndoResult(1, "first", UndoScope.BOTH, ("a.txt",))
    assert after_redo == ("two\n", ["first"])


async def test_the_model_no_longer_hears_of_what_was_taken_back(project: Path) -> None:
    async with core(project, Say("First."), Say("Second."), Say("Third.")) as (made, model):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        await session.turns.undo()
        await session.submit("third")
        await session.close()

    assert [reported(message) for message in model.requests[-1].messages] == ["first", "First.", "third"]


async def test_redo_is_over_once_another_turn_began(project: Path) -> None:
    async with core(project, edit("one", "two"), Say("First."), Say("Second.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.turns.undo()
        await session.submit("another")
        with pytest.raises(UserError, match=NOTHING_TO_REDO):
            await session.turns.redo()
        await session.turns.undo()
        with pytest.raises(UserError, match=NOTHING_TO_UNDO):
            await session.turns.undo()
        await session.close()


async def test_a_message_that_was_never_said_leaves_the_redo(project: Path) -> None:
    async with core(project, edit("one", "two"), Say("First."), Say("Second.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.turns.undo()

        def stop(event: Event) -> None:
            if isinstance(event, TurnStarted):
                session.interrupt()

        unsubscribe = session.subscribe(stop)
        await session.submit("stopped")
        unsubscribe()
        nothing = said(session)
        redone = await session.turns.redo()
        await session.submit("second")
        undone = await session.turns.undo()
        await session.close()

    assert nothing == []
    assert redone == UndoResult(1, "first", UndoScope.BOTH, ("a.txt",))
    assert undone == UndoResult(3, "second", UndoScope.BOTH)
    assert (project / "a.txt").read_text() == "two\n"


async def test_files_alone_go_back_and_the_model_is_reported(project: Path) -> None:
    async with core(project, edit("one", "two"), Say("First."), Say("Second.")) as (made, model):
        session = await made.new_session()
        await session.submit("first")
        undone = await session.turns.undo(UndoScope.FILES)
        text = (project / "a.txt").read_text()
        await session.submit("second")
        await session.close()

    assert undone == UndoResult(1, "first", UndoScope.FILES, ("a.txt",))
    assert text == "one\n"
    assert [message.role for message in model.requests[-1].messages][-2:] == ["assistant", "user"]
    last = model.requests[-1].messages[-1]
    assert last.role == "user"
    assert [each.label for each in last.attachments] == ["undo"]
    assert "a.txt" in last.attachments[0].text


async def test_words_alone_go_back(project: Path) -> None:
    async with core(project, edit("one", "two"), Say("First.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.turns.undo(UndoScope.CONVERSATION)
        state = (project / "a.txt").read_text(), said(session)
        await session.turns.redo(UndoScope.CONVERSATION)
        words = said(session)
        await session.close()

    assert state == ("two\n", [])
    assert words == ["first"]


async def test_what_the_user_changed_since_is_a_conflict_and_stays(project: Path) -> None:
    async with core(project, edit("one", "two"), Say("First.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        (project / "a.txt").write_text("mine\n")
        undone = await session.turns.undo()
        await session.close()

    assert undone == UndoResult(1, "first", UndoScope.BOTH, (), (("a.txt", "it has changed since"),))
    assert (project / "a.txt").read_text() == "mine\n"


async def test_todos_are_as_they_were_before_the_turn(project: Path) -> None:
    async with core(project, todo("old"), Say("A."), todo("new"), Say("B.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        await session.turns.undo()
        undone = todos(session.history())
        await session.turns.redo()
        redone = todos(session.history())
        await session.close()

    assert (undone, redone) == (["old"], ["new"])


async def test_a_resumed_session_can_be_undone_and_redone(project: Path) -> None:
    async with core(project, edit("one", "two"), Say("First."), Say("Second.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.close()
        session = await made.resume(session.id)
        await session.turns.undo()
        await session.close()
        session = await made.resume(session.id)
        undone = (project / "a.txt").read_text(), said(session)
        await session.turns.redo()
        redone = (project / "a.txt").read_text(), said(session)
        await session.submit("second")
        number = session.turn
        await session.close()

    assert undone == ("one\n", [])
    assert redone == ("two\n", ["first"])
    assert number == 2


async def test_nothing_is_undone_while_the_agent_works(project: Path) -> None:
    async with core(project, Say("First."), Say("Second.", hangs=True)) as (made, model):
        session = await made.new_session()
        await session.submit("first")
        turn = asyncio.create_task(session.submit("second"))
        await model.reached.wait()
        with pytest.raises(UserError, match="The agent is working"):
            await session.turns.undo()
        session.interrupt()
        await turn
        await session.close()


async def test_what_is_sent_while_a_turn_is_taken_back_goes_out_after_it_in_order(project: Path) -> None:
    replies = (edit("one", "two"), Say("First."), Say("Heard."), Say("Heard both."))
    async with core(project, *replies) as (made, model):
        session = await made.new_session()
        await session.submit("first")
        undo = asyncio.create_task(session.turns.undo())
        await asyncio.sleep(0)
        is_busy = session.is_busy
        await asyncio.gather(session.submit("and that"), session.submit("and this"))
        undone = await undo
        stored = await made.store.load(session.id)
        heard = [reported(message) for message in model.requests[-1].messages if message.role == "user"]
        await session.close()

    assert is_busy
    assert undone == UndoResult(1, "first", UndoScope.BOTH, ("a.txt",))
    kept = [reported(message) for message in stored.messages if message.role == "user"]
    assert kept == heard == ["and that", "and this"]


async def test_turns_taken_back_at_once_go_one_by_one(project: Path) -> None:
    async with core(project, Say("First."), Say("Second.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        moved = await asyncio.gather(session.turns.undo(), session.turns.undo())
        await session.close()

    assert [each.text for each in moved] == ["second", "first"]


async def test_files_of_a_turn_whose_words_went_before_come_back_with_it(project: Path) -> None:
    replies = (edit("one", "two"), Say("First."), edit("two", "three"), Say("Second."))
    async with core(project, *replies) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        await session.turns.undo(UndoScope.CONVERSATION)
        await session.turns.undo()
        at_the_start = (project / "a.txt").read_text(), said(session)
        await session.turns.redo()
        await session.turns.redo()
        at_the_end = (project / "a.txt").read_text(), said(session)
        await session.close()

    assert at_the_start == ("one\n", [])
    assert at_the_end == ("three\n", ["first", "second"])


async def test_files_that_were_kept_when_their_words_went_for_good_belong_to_the_turn_before(
    project: Path,
) -> None:
    replies = (edit("one", "two"), Say("First."), edit("two", "three"), Say("Second."))
    async with core(project, *replies, edit("three", "four"), Say("Third.")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        await session.turns.undo(UndoScope.CONVERSATION)
        await session.submit("third")
        texts = []
        for move in (session.turns.undo, session.turns.undo, session.turns.redo, session.turns.redo):
            await move()
            texts.append((project / "a.txt").read_text())
        words = said(session)
        await session.close()

    assert texts == ["three\n", "one\n", "three\n", "four\n"]
    assert words == ["first", "third"]


async def test_a_turn_whose_files_went_for_good_can_still_be_unsaid_and_said_again(project: Path) -> None:
    replies = (edit("one", "two"), Say("First."), Say("Second."))
    async with core(project, *replies) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.turns.undo(UndoScope.FILES)
        await session.submit("second")
        await session.turns.undo()
        await session.turns.undo()
        nothing = said(session)
        again = await session.turns.redo()
        words = said(session)
        await session.turns.redo()
        at_the_end = said(session)
        await session.close()

    assert (nothing, words, at_the_end) == ([], ["first"], ["first", "second"])
    assert again == UndoResult(1, "first", UndoScope.BOTH)
    assert (project / "a.txt").read_text() == "one\n"


async def test_what_is_rejected_while_a_turn_is_taken_back_belongs_to_the_turn_before(project: Path) -> None:
    replies = (edit("one", "two"), Say("First."), edit("two", "three"), Say("Second."))
    async with core(project, *replies) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        await session.turns.undo()
        (file,) = await session.changed_files()
        comparison = compared(file, project)
        await session.review.settle([Reviewed(file, comparison, frozenset(units_of(comparison)))])
        rejected = (project / "a.txt").read_text()
        await session.turns.undo()
        await session.turns.redo()
        redone = (project / "a.txt").read_text()
        with_conflict = await session.turns.redo()
        await session.close()

    assert (rejected, redone) == ("one\n", "one\n")
    assert with_conflict.conflicts == (("a.txt", "it has changed since"),)
