"""Commands do what they say on the screen."""

from dataclasses import replace
from pathlib import Path

from textual import events

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import UserMessageAdded
from coder_tui.skills.discover import Root
from coder_tui.skills.skill import SkillSource
from coder_tui.ui.lists.help import HelpScreen
from coder_tui.ui.transcript.pager import PagerScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage
from tests.fakes.skill_files import put_skill, session_skills_of


def enter(s: Stage, text: str) -> None:
    for character in text:
        s.app.post_message(events.Key("space" if character == " " else character, character))
    s.app.post_message(events.Key("enter", "\r"))


async def test_help_opens_the_help() -> None:
    async with stage() as s:
        enter(s, "/help")
        await s.until(lambda: isinstance(s.app.screen, HelpScreen))


async def test_a_long_report_has_its_own_page() -> None:
    async def report() -> str:
        return "\n".join(f"✓ part {n}" for n in range(30))

    session = FakeSession()
    async with stage(session, launch=replace(launch_for(session), doctor=report)) as s:
        enter(s, "/doctor")
        await s.until(lambda: isinstance(s.app.screen, PagerScreen) and "✓ part 3" in s.drawn())


async def test_a_failing_doctor_is_reported() -> None:
    async def broken() -> str:
        raise UserError("the settings cannot be read")

    session = FakeSession()
    async with stage(session, launch=replace(launch_for(session), doctor=broken)) as s:
        enter(s, "/doctor")
        await s.shows("the settings cannot be read")


async def test_trust_says_when_there_is_nothing_to_decide() -> None:
    async with stage() as s:
        enter(s, "/trust")
        await s.shows("nothing to decide")


async def test_a_command_searches_the_conversation() -> None:
    async with stage() as s:
        s.session.emit(UserMessageAdded("u1", "an egret and a heron"))
        enter(s, "/find heron")
        await s.until(lambda: "1 of 1" in s.drawn() and s.app.focused is s.screen.transcript.view)


async def test_a_command_changes_how_thinking_is_shown() -> None:
    async with stage() as s:
        strips = s.screen.transcript.history.strips
        before = strips.view.thinking
        enter(s, "/thinking")
        await s.until(lambda: strips.view.thinking is before.next)


async def test_quit_leaves() -> None:
    async with stage() as s:
        enter(s, "/quit")
        await s.until(lambda: s.session.is_closed)


async def test_auto_mode_needs_a_confirmation() -> None:
    async with stage() as s:
        enter(s, "/mode auto")
        await s.shows("/mode auto confirm")
        assert s.session.mode == "ask"
        enter(s, "/mode auto confirm")
        await s.until(lambda: s.session.mode == "auto")


async def test_offered_are_only_commands_that_do_something() -> None:
    async with stage() as s:
        names = [command.name for command in s.screen.widgets.composing.commands.offered()]
        assert {"help", "mode", "doctor", "trust", "todos", "quit"} <= set(names)
        assert len(names) == len(set(names))


async def test_a_skill_is_called_from_the_menu_like_a_command(tmp_path: Path) -> None:
    put_skill(tmp_path, "deploy", "Ships the program.")
    session = FakeSession()
    session.report.skills = session_skills_of(Root(tmp_path, SkillSource.USER))
    async with stage(session) as s:
        for character in "/depl":
            s.app.post_message(events.Key(character, character))
        await s.until(lambda: "Ships the program." in s.drawn() and "skill" in s.drawn())
        s.app.post_message(events.Key("tab", "\t"))
        await s.until(lambda: s.screen.prompt.text.startswith("/deploy"))
        enter(s, "to test")
        await s.until(lambda: session.submitted == ["/deploy to test"])


async def test_a_skill_that_was_just_written_can_be_called(tmp_path: Path) -> None:
    session = FakeSession()
    session.report.skills = session_skills_of(Root(tmp_path, SkillSource.USER))
    async with stage(session) as s:
        enter(s, "/deploy now")
        await s.shows("There is no command /deploy.")
        await s.until(lambda: s.draft == "/deploy now")
        put_skill(tmp_path, "deploy")
        await s.pilot.press("enter")
        await s.until(lambda: session.submitted == ["/deploy now"])
