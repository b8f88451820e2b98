"""What each command makes of a real session."""

from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.commands.base import (
    Called,
    Commands,
    Copy,
    Intent,
    Leave,
    OpenScreen,
    Say,
    ScreenName,
    SetMode,
    StartSession,
)
from coder_tui.commands.builtin import AUTO_WARNING, builtin_commands
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Notice
from coder_tui.protocol.outcomes import NoticeLevel
from tests.fakes.scripted_model import Say as ModelSays
from tests.fakes.world import ALLOW, world

COMMANDS = Commands(builtin_commands())


async def run(session: Session, text: str) -> Intent:
    called = COMMANDS.read(text)
    assert isinstance(called, Called)
    return await called.command.run(session, called.argument)


async def said(session: Session, text: str) -> str:
    intent = await run(session, text)
    assert isinstance(intent, Say)
    return intent.text


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("/help", OpenScreen(ScreenName.HELP)),
        ("/model gpt-6", OpenScreen(ScreenName.MODELS, "gpt-6")),
        ("/mode", OpenScreen(ScreenName.MODES)),
        ("/mode plan", SetMode(Mode.PLAN)),
        ("/mode auto", Say(AUTO_WARNING, NoticeLevel.WARNING)),
        ("/mode auto confirm", SetMode(Mode.AUTO)),
        (
            "/mode fast",
            Say("There is no mode fast; choose from ask, edits, auto, plan.", NoticeLevel.WARNING),
        ),
        ("/resume", OpenScreen(ScreenName.SESSIONS)),
        ("/resume 7", StartSession("7")),
        ("/new", StartSession()),
        ("/rename", Say("Name the title: /rename TITLE", NoticeLevel.WARNING)),
        ("/copy", Say("There is no reply to copy yet.", NoticeLevel.WARNING)),
        ("/quit", Leave()),
    ],
)
async def test_a_command_asks_the_screen_for_one_thing(tmp_path: Path, text: str, intent: Intent) -> None:
    async with world(tmp_path, []) as made:
        assert await run(made.session, text) == intent


async def test_rename_gives_the_session_its_title(tmp_path: Path) -> None:
    async with world(tmp_path, []) as made:
        await run(made.session, "/rename div by zero")
        assert made.session.title == "div by zero"


async def test_reports_tell_tools_rules_and_cost(tmp_path: Path) -> None:
    replies = [ModelSays(calls=(("act", {"text": "x"}),)), ModelSays("done")]
    async with world(tmp_path, replies, answers=[ALLOW]) as made:
        await made.session.submit("go")
        tools = await said(made.session, "/tools")
        rules = await said(made.session, "/permissions")
        assert "look" in tools
        assert "act 'forbidden' = deny" in rules
        assert "answered allow_once" in rules
        assert "This session" in await said(made.session, "/cost")
        assert "your messages" in await said(made.session, "/context")


async def test_the_newest_reply_is_copied_or_written(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelSays("first"), ModelSays("second")]) as made:
        await made.session.submit("a")
        await made.session.submit("b")
        assert await run(made.session, "/copy") == Copy("second")
        await run(made.session, "/copy reply.txt")
        assert (tmp_path / "reply.txt").read_text() == "second\n"


async def test_export_writes_a_new_file_and_never_over_another(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelSays("answer")]) as made:
        await made.session.submit("question")
        await run(made.session, "/export out.md")
        assert "answer" in (tmp_path / "out.md").read_text()
        again = await run(made.session, "/export out.md")
        assert isinstance(again, Say)
        assert again.level is NoticeLevel.ERROR
        await run(made.session, "/export jsonl")
        assert (tmp_path / f"coder-tui-{made.session.id}.jsonl").read_text().startswith('{"type": "session"')


async def test_export_draws_pictures_and_keeps_what_is_there(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelSays("hello")]) as made:
        await made.session.submit("hi")
        assert await said(made.session, "/export svg out.svg") == f"Wrote {tmp_path}/out.svg"
        assert "hello" in (tmp_path / "out.svg").read_text()
        assert any(isinstance(each, Notice) and "Drawing" in each.text for each in made.events)
        assert "already exists" in await said(made.session, "/export out.svg")
