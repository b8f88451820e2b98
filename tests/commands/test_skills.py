"""Each skill is a command, after the built-in ones; `/skills` tells of all."""

from pathlib import Path
from typing import cast

from coder_tui.agent.session import Session
from coder_tui.commands.base import Command, Say, Source, Submit
from coder_tui.commands.catalogue import builtin_commands
from coder_tui.commands.registry import Called, Commands
from coder_tui.commands.skills import skills, with_skills
from coder_tui.skills.roots import Root
from coder_tui.skills.skill import SkillSource
from tests.fakes.fake_session import FakeSession
from tests.fakes.skill_files import put_skill, shelf_of


def added(folder: Path, *denied: str) -> list[Command]:
    shelf = shelf_of(Root(folder, SkillSource.USER), denied=denied)
    return [command for command in with_skills(builtin_commands(), shelf) if command.source is Source.SKILL]


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


async def test_skills_are_told_with_what_is_wrong(tmp_path: Path) -> None:
    put_skill(tmp_path, "deploy")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/SKILL.md").write_text("x\n")
    session = FakeSession()
    session.facts.skills = shelf_of(Root(tmp_path, SkillSource.USER))

    said = await skills(cast(Session, session), "")

    assert isinstance(said, Say)
    assert "  deploy  user          ready" in said.text
    assert "bad/SKILL.md:1: error: there is no frontmatter" in said.text
