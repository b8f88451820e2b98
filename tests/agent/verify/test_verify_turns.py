"""The check in a whole core: when it runs, and what becomes of messages sent while it runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.verify import YES
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, RequestOpened, ToolFinished, ToolStarted, TurnFinished
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import Attendance, QuestionAnswer, QuestionReply, QuestionRequest
from coder_tui.storage.store import Store
from tests.fakes.real_tools import ALLOW, setup_in
from tests.fakes.scripted_model import Say, ScriptedModel


@dataclass
class Checked:
    """A session whose turns are checked; `sent_during_check` is sent while the first check runs."""

    core: SessionFactory
    session: Session
    model: ScriptedModel
    sent_during_check: tuple[str, ...] = ()
    events: list[Event] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ToolStarted) and event.tool == "verify":
            texts, self.sent_during_check = self.sent_during_check, ()
            for text in texts:
                asyncio.get_running_loop().create_task(self.session.submit(text))
        if isinstance(event, RequestOpened):
            yes = QuestionReply(Attendance.ANSWERED, (QuestionAnswer((YES,)),))
            is_question = isinstance(event.request, QuestionRequest)
            self.session.answer(event.request.id, yes if is_question else ALLOW)

    @property
    def checks(self) -> list[str]:
        finished = (event for event in self.events if isinstance(event, ToolFinished))
        return [event.outcome.value for event in finished if event.tool == "verify"]

    def heard(self, request: int) -> list[str]:
        """What the model was sent in the user's place."""
        messages = self.model.requests[request].messages
        return [message.text for message in messages if message.role == "user"]


@asynccontextmanager
async def checked(tmp_path: Path, command: str, *replies: Say, more: str = "") -> AsyncIterator[Checked]:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    config = tmp_path / "config"
    config.mkdir(exist_ok=True)
    chosen = f"command = '{command}'\n" if command else ""
    (config / "config.toml").write_text(f"[verify]\n{chosen}max_rounds = 1\n{more}")
    setup = setup_in(tmp_path, project, Mode.AUTO)
    store = await Store.open(setup.directories.database)
    model = ScriptedModel(replies)
    core = SessionFactory(setup, store, model, ModelChoice("scripted"))
    session = await core.new_session()
    made = Checked(core, session, model)
    session.subscribe(made.hear)
    try:
        yield made
    finally:
        await session.close()
        await core.close()


def write(path: str) -> Say:
    return Say(calls=(("write", {"path": path, "content": "x"}),))


@pytest.mark.parametrize(("command", "outcome", "times"), [("true", "ok", 1), ("false", "failed", 2)])
async def test_what_is_sent_while_the_check_runs_goes_out_after_it_in_order(
    tmp_path: Path, command: str, outcome: str, times: int
) -> None:
    replies = (write("a.py"), Say("Written."), Say("Heard."))
    async with checked(tmp_path, command, *replies) as made:
        made.sent_during_check = ("and a test", "in b.py")
        await made.session.submit("write it")
        ends = [event.outcome for event in made.events if isinstance(event, TurnFinished)]
        assert ends == [TurnOutcome.DONE]
        assert made.checks == [outcome] * times
        reported = [text for text in made.heard(2) if not text.startswith("The project's check")]
        assert reported == ["write it", "and a test", "in b.py"]
        assert made.session.withdraw_queued() == ()


async def test_a_check_is_asked_for_by_who_can_answer_and_not_by_the_turn_itself(tmp_path: Path) -> None:
    async with checked(tmp_path, "", write("a.py"), Say("Written."), write("b.py"), Say("Written.")) as made:
        (made.session.directory / "Makefile").write_text("test:\n\ttrue\n")
        await made.session.submit("write it")
        assert await made.core.store.verify.get(str(made.session.directory)) is None
        assert [event for event in made.events if isinstance(event, RequestOpened)] == []
        await made.session.verifier.offer()
        asked = [event.request for event in made.events if isinstance(event, RequestOpened)]
        assert [request.tool for request in asked] == ["verify"]
        assert await made.core.store.verify.get(str(made.session.directory)) == "make test"
        await made.session.submit("another")
        assert made.checks == ["ok"]


UNWATCHED = "[undo]\ncommands = false\n"


@pytest.mark.parametrize(
    ("call", "settings", "is_checked"),
    [
        (("write", {"path": "a.py", "content": "x"}), "", True),
        (("write", {"path": "docs/new/a.md", "content": "x"}), "", False),
        (("bash", {"command": "ln -s nowhere a.py"}), "", True),
        (("bash", {"command": "mkdir src"}), "", True),
        (("bash", {"command": "touch notes.md"}), "", False),
        (("bash", {"command": "touch a.py"}), UNWATCHED, True),
        (("bash", {"command": "ls"}), UNWATCHED, False),
        (("bash", {"command": "touch a.py"}), "[undo]\nmost_files = 1\n", True),
        (("bash", {"command": "touch a.py", "background": True}), "", True),
    ],
    ids=[
        *("file", "document in a new folder", "link", "folder", "document by a command", "unwatched"),
        *("only looks", "too many files", "in the background"),
    ],
)
async def test_what_may_have_changed_something_is_checked_once(
    tmp_path: Path, call: tuple[str, dict[str, object]], settings: str, is_checked: bool
) -> None:
    replies = (Say(calls=(call,)), Say("Done."), Say("Well."))
    async with checked(tmp_path, "true", *replies, more=settings) as made:
        for name in ("one.md", "two.md"):
            (made.session.directory / name).touch()
        await made.session.submit("do it")
        await made.session.submit("and what now?")
        assert made.checks == ["ok"] * is_checked
