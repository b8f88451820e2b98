"""Each skill is a command, after the built-in ones."""

from pathlib import Path
from typing import cast

from coder_tui.agent.session import Session
from coder_tui.commands.base import Called, Command, Commands, Source, Submit
from coder_tui.commands.builtin import builtin_commands, with_skills
from coder_tui.skills.discover import Root
from coder_tui.skills.skill import SkillSource
from tests.fakes.fake_session import FakeSession
from tests.fakes.skill_files import put_skill, session_skills_of


def added(folder: Path, *denied: str) -> list[Command]:
    known = session_skills_of(Root(folder, SkillSource.USER), denied=denied)
    return [command for command in with_skills(builtin_commands(), known) if command.source is Source.SKILL]


def test_skills_join_the_menu_with_their_label_and_never_take_a_name(tmp_path: Path) -> None:
    put_skill(tmp_path, "deploy", "Ships \x1b[31mit\u202e.")
    put_skill(tmp_path, "denied")
    put_skill(tmp_path, "help")

    (command,) = added(tmp_path, "denied")

    assert (command.name, command.argument) == ("deploy", "[what to do]")
    assert "\x1b" not in command.summary
    assert "\u202e" not in command.summary


async def test_a_skill_is_called_by_the_message_itself(tmp_path: Path) -> None:
    put_skill(tmp_path, "Deploy")
    commands = Commands(added(tmp_path))
    called = commands.read("/deploy  to the test machine ")

    assert isinstance(called, Called)
    assert await called.command.run(cast(Session, FakeSession()), called.argument) == Submit(
        "/Deploy to the test machine"
    )
