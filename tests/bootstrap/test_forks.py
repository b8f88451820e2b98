"""One session is opened twice: the second program goes on in a fork."""

import argparse
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.open_session import open_session
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.cli.arguments import read_invocation
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError, UsageError
from coder_tui.protocol.events import Notice
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel

OPEN_ELSEWHERE_NOTICE = (
    "“first” is open in another coder-tui, which goes on with it. "
    "This is a fork: it is kept once you send something."
)


async def program(tmp_path: Path, *replies: Say) -> SessionFactory:
    """A store of its own in the same folder, as another process would have."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    setup = setup_in(tmp_path, project, Mode.ASK)
    store = await Store.open(setup.directories.database)
    return SessionFactory(setup, store, ScriptedModel(replies), ModelChoice("scripted"))


def asked(
    core: SessionFactory, resume: str = "", *, is_continued: bool = False, is_fork: bool = False
) -> Invocation:
    given = read_invocation(argparse.Namespace(), str(core.setup.directory))
    return replace(given, resume=resume, is_continued=is_continued, is_fork=is_fork)


def notices(session: Session) -> list[str]:
    return [event.text for event in session.history() if isinstance(event, Notice)]


async def test_the_second_program_is_reported_and_its_fork_is_kept_once_something_is_sent(
    tmp_path: Path,
) -> None:
    first, second = await program(tmp_path, Say("yes")), await program(tmp_path, Say("me too"))
    session = await first.new_session()
    await session.submit("first")
    other = await open_session(second, asked(second, resume=session.id), forks=True)
    assert (other.id != session.id, other.is_kept, notices(other)) == (True, False, [OPEN_ELSEWHERE_NOTICE])
    await other.submit("second")
    assert other.is_kept
    await other.close()
    titles = [info.title for info in await first.store.sessions.list()]
    assert titles == ["fork of first", "first"]
    original = await first.store.load(session.id)
    assert [message.text for message in original.messages if message.role == "user"] == ["first"]
    await session.close()
    await second.close()
    await first.close()


async def test_a_fork_that_nobody_used_leaves_no_trace(tmp_path: Path) -> None:
    first, second = await program(tmp_path, Say("yes")), await program(tmp_path)
    session = await first.new_session()
    await session.submit("first")
    other = await open_session(second, asked(second, is_continued=True), forks=True)
    await other.close()
    assert [info.id for info in await first.store.sessions.list()] == [session.id]
    await session.close()
    back = await open_session(second, asked(second, is_continued=True), forks=True)
    assert (back.id, notices(back)) == (session.id, [])
    await back.close()
    await second.close()
    await first.close()


async def test_a_run_is_refused_unless_a_copy_will_do(tmp_path: Path) -> None:
    first, second = await program(tmp_path, Say("yes")), await program(tmp_path)
    session = await first.new_session()
    await session.submit("first")
    with pytest.raises(StorageError) as caught:
        await open_session(second, asked(second, resume=session.id))
    assert str(caught.value) == (
        f"session {session.id} is open in another coder-tui; "
        "close it there first, or add --fork to go on with a copy"
    )
    fork = await open_session(second, asked(second, resume=session.id, is_fork=True))
    assert (fork.title, fork.is_kept) == ("fork of first", True)
    await fork.close()
    await session.close()
    await second.close()
    await first.close()


async def test_a_session_in_which_nothing_was_said_is_not_continued(tmp_path: Path) -> None:
    first, second = await program(tmp_path, Say("yes")), await program(tmp_path)
    session = await first.new_session()
    await session.submit("first")
    await session.close()
    silent = await first.new_session()
    back = await open_session(second, asked(second, is_continued=True))
    assert back.id == session.id
    await back.close()
    await silent.close()
    await second.close()
    await first.close()


@pytest.mark.parametrize(
    ("flags", "words"), [({"resume": " "}, "needs the id"), ({"fork": True}, "goes with")]
)
def test_flags_that_say_nothing_are_refused(flags: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_invocation(argparse.Namespace(**flags))
