"""The list of skills: a chosen one goes into the prompt, an unused one says why."""

import shutil
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from coder_tui.skills.discover import Root
from coder_tui.skills.skill import SkillSource
from coder_tui.ui.app import CoderApp
from coder_tui.ui.lists.choosers import SkillsScreen
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage
from tests.fakes.skill_files import put_skill, session_skills_of
from tests.fakes.snap_compare import SnapCompare


def session_with_skills(folder: Path) -> FakeSession:
    put_skill(folder / "built-in", "debug", "Finds causes.")
    put_skill(folder / "mine", "debug", "Finds causes my way.")
    put_skill(folder / "mine", "deploy", "Ships \x1b[2Jit.")
    put_skill(folder / "mine", "secret")
    (folder / "mine/bad").mkdir()
    (folder / "mine/bad/SKILL.md").write_text("x\n")
    session = FakeSession()
    roots = (Root(folder / "built-in", SkillSource.BUILTIN), Root(folder / "mine", SkillSource.USER))
    session.report.skills = session_skills_of(*roots, denied=("secret",))
    return session


async def opened(s: Stage) -> SkillsScreen:
    await s.app.run_action("screen.run('skills')", s.screen)
    await s.until(lambda: isinstance(s.app.screen, SkillsScreen) and s.app.screen.list.marked is not None)
    assert isinstance(s.app.screen, SkillsScreen)
    return s.app.screen


async def test_sources_states_and_errors_are_listed(tmp_path: Path) -> None:
    async with stage(session_with_skills(tmp_path)) as s:
        await opened(s)
        await s.shows("Finds causes my way.")
        drawn = s.drawn()
        await s.pilot.press(*["down"] * 4)
        await s.shows("there is no frontmatter")
    assert all(words in drawn for words in ("ready", "denied", "shadowed", "user", "built-in", "error"))
    assert "\x1b" not in drawn


async def test_a_chosen_skill_is_put_into_the_prompt(tmp_path: Path) -> None:
    async with stage(session_with_skills(tmp_path)) as s:
        await opened(s)
        for character in "depl":
            s.app.post_message(events.Key(character, character))
        s.app.post_message(events.Key("enter", "\r"))
        await s.until(lambda: s.screen.prompt.text == "/deploy ")


async def test_a_denied_skill_says_so_and_is_not_used(tmp_path: Path) -> None:
    async with stage(session_with_skills(tmp_path)) as s:
        screen = await opened(s)
        await s.pilot.press(*"secret")
        await s.shows("denied skill 'x' = deny")
        await s.pilot.press("enter")
        await s.shows("This skill cannot be used: denied skill")
        assert s.app.screen is screen


async def test_escape_restores_the_draft(tmp_path: Path) -> None:
    async with stage(session_with_skills(tmp_path)) as s:
        await s.pilot.press(*"draft")
        await opened(s)
        await s.pilot.press("down", "escape")
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, s.screen.focused) == ("draft", s.screen.prompt)


@pytest.mark.parametrize("size", [(80, 24), (140, 40)], ids=["80x24", "140x40"])
def test_the_list_looks_right(snap_compare: SnapCompare, tmp_path: Path, size: tuple[int, int]) -> None:
    session = session_with_skills(tmp_path)
    shutil.rmtree(tmp_path / "mine/bad")  # its place would be another in each picture
    (tmp_path / "mine/deploy/SKILL.md").write_text("---\nname: deploy\ndescription: Ships it.\n---\nGo.\n")
    roots = (Root(tmp_path / "built-in", SkillSource.BUILTIN), Root(tmp_path / "mine", SkillSource.USER))
    session.report.skills = session_skills_of(*roots, denied=("secret",), held=lambda: ("deploy",))
    app = CoderApp(launch_for(session))

    async def ready(pilot: Pilot[int]) -> None:
        s = Stage(app, pilot, session)
        await s.until(lambda: app.session_screen.widgets.sender.session is not None)
        await opened(s)
        await s.shows("Finds causes my way.")
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)
