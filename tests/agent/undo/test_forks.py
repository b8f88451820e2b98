"""A session is forked, and model and files go on from there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.session_state import BUSY
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.undo.undo import GONE, NOTHING_SAID
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.commands.base import Say as Reply
from coder_tui.commands.base import StartSession
from coder_tui.commands.session import fork
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import UserMessageAdded
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel

FILES = "Files stay as they are now; /undo in the original session restores them."


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


def said(session: Session) -> list[UserMessageAdded]:
    return [event for event in session.history() if isinstance(event, UserMessageAdded)]


async def test_an_earlier_message_is_sent_otherwise_in_a_fork_and_the_original_stays(project: Path) -> None:
    replies = (Say("yes"), edit("one", "two"), Say("done"), Say("instead"))
    async with core(project, *replies) as (made, model):
        session = await made.new_session()
        await session.submit("first")
        await session.submit("second")
        session = await reopened(made, session)
        second = said(session)[1]
        assert session.forks.text_of(second.message_id) == "second"
        forked = await session.forks.fork(second.message_id)
        assert forked.notice == (
            "This is “fork of first”. The original session is unchanged; "
            f"/resume {session.id} goes back to it.\n{FILES}"
        )
        other = await made.resume(forked.session_id)
        await other.submit("second, otherwise")
        sent = [message.text for message in model.requests[-1].messages if message.role == "user"]
        assert sent == ["first", "second, otherwise"]
        assert (project / "a.txt").read_text() == "two\n"
        original = await made.store.load(session.id)
        assert [message.text for message in original.messages if message.role == "user"] == [
            "first",
            "second",
        ]
        await other.close()
        await session.close()


async def test_undo_in_a_fork_ends_where_it_was_forked(project: Path) -> None:
    async with core(project, Say("yes"), Say("again")) as (made, _):
        session = await made.new_session()
        await session.submit("first")
        other = await made.resume((await session.forks.fork()).session_id)
        await other.submit("second")
        assert (await other.turns.undo()).text == "second"
        with pytest.raises(UserError, match="nothing to undo"):
            await other.turns.undo()
        assert [event.text for event in said(other)] == ["first"]
        await other.close()
        await session.close()


async def test_a_fork_needs_words_and_rest(project: Path) -> None:
    async with core(project, Say("yes"), Say("slow", hangs=True)) as (made, model):
        session = await made.new_session()
        assert await fork(session, "") == Reply(NOTHING_SAID, NoticeLevel.WARNING)
        await session.submit("first")
        intent = await fork(session, "")
        assert isinstance(intent, StartSession) and intent.session_id != session.id
        turn = asyncio.create_task(session.submit("second"))
        await model.reached.wait()
        assert await fork(session, "") == Reply(BUSY, NoticeLevel.WARNING)
        session.interrupt()
        await turn
        with pytest.raises(UserError, match=GONE):
            session.forks.text_of("nothing")
        await session.close()


async def reopened(made: SessionFactory, session: Session) -> Session:
    await session.close()
    return await made.resume(session.id)
