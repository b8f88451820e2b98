"""Commands do what they say on the screen."""

from dataclasses import replace

from textual import events

from coder_tui.protocol.errors import UserError
from coder_tui.ui.screens.help import HelpScreen
from coder_tui.ui.screens.pager import PagerScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage


def enter(s: Stage, text: str) -> None:
    for character in text:
        s.app.post_message(events.Key("space" if character == " " else character, character))
    s.app.post_message(events.Key("enter", "\r"))


async def test_help_opens_the_help() -> None:
    async with stage() as s:
        enter(s, "/help")
        await s.until(lambda: isinstance(s.app.screen, HelpScreen))


async def test_a_report_that_is_long_has_a_page_of_its_own() -> None:
    async def report() -> str:
        return "\n".join(f"✓ part {n}" for n in range(30))

    session = FakeSession()
    async with stage(session, launch=replace(launch_for(session), doctor=report)) as s:
        enter(s, "/doctor")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen) and "✓ part 3" in s.drawn())


async def test_what_cannot_be_examined_is_said() -> None:
    async def broken() -> str:
        raise UserError("the settings cannot be read")

    session = FakeSession()
    async with stage(session, launch=replace(launch_for(session), doctor=broken)) as s:
        enter(s, "/doctor")
        await s.until(lambda: "the settings cannot be read" in s.drawn())


async def test_trust_says_when_there_is_nothing_to_decide() -> None:
    async with stage() as s:
        enter(s, "/trust")
        await s.until(lambda: "nothing to decide" in s.drawn())


async def test_quit_leaves() -> None:
    async with stage() as s:
        enter(s, "/quit")
        await s.until(lambda: s.session.is_closed)


async def test_auto_mode_wants_a_second_word() -> None:
    async with stage() as s:
        enter(s, "/mode auto")
        await s.until(lambda: "/mode auto confirm" in s.drawn())
        assert s.session.mode == "ask"
        enter(s, "/mode auto confirm")
        await s.until(lambda: s.session.mode == "auto")


async def test_offered_are_only_commands_that_do_something() -> None:
    async with stage() as s:
        names = [command.name for command in s.screen.composing.commands.offered()]
        assert {"help", "mode", "doctor", "trust", "todos", "quit"} <= set(names)
        assert len(names) == len(set(names))
