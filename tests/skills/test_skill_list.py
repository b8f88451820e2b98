"""What the model always sees of skills is short, and the same each time."""

from pathlib import Path

from coder_tui.resources import bundled
from coder_tui.skills.authoring import skills_at, validate
from coder_tui.skills.discover import Root
from coder_tui.skills.session_skills import LONGEST_SKILL_LIST, skill_list_text
from coder_tui.skills.skill import Skill, SkillSource
from tests.fakes.skill_files import session_skills_of

BUNDLED = Root(bundled("skills"), SkillSource.BUILTIN)


def skill(name: str, description: str) -> Skill:
    return Skill(name, description, "Go.", Path("/s") / name, SkillSource.USER)


def test_without_skills_the_list_is_empty() -> None:
    assert skill_list_text(()) == ""


def test_each_skill_has_a_line() -> None:
    text = skill_list_text((skill("a", "Does a."), skill("b", "x" * 500)))

    assert text.splitlines()[2:] == ["- a: Does a.", f"- b: {'x' * 399}…", "</skills>"]


def test_very_many_skills_end_in_a_note_about_the_rest() -> None:
    text = skill_list_text(skill(f"skill-{number}", "x" * 400) for number in range(100))

    assert len(text) < LONGEST_SKILL_LIST + 500
    assert text.splitlines()[-2] == '(71 more: use the tool `skill`, action "list")'


def test_the_shipped_skills_have_no_problems() -> None:
    skills = session_skills_of(BUNDLED)

    assert [each.name for each in skills.found.skills] == [
        *("code-review", "commit", "create-skill", "debug", "write-tests")
    ]
    assert [problem for folder in skills_at(BUNDLED.folder) for problem in validate(folder)] == []
