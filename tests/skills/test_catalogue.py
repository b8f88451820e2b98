"""What the model always sees of skills is short, and the same each time."""

from pathlib import Path

from coder_tui.resources import bundled
from coder_tui.skills.authoring import skills_at, validate
from coder_tui.skills.discover import Root
from coder_tui.skills.session_skills import LONGEST_CATALOGUE, catalogue_text
from coder_tui.skills.skill import Skill, SkillSource
from tests.fakes.skill_files import shelf_of

BUNDLED = Root(bundled("skills"), SkillSource.BUILTIN)


def skill(name: str, description: str) -> Skill:
    return Skill(name, description, "Go.", Path("/s") / name, SkillSource.USER)


def test_no_skills_no_words() -> None:
    assert catalogue_text(()) == ""


def test_each_skill_has_a_line() -> None:
    text = catalogue_text((skill("a", "Does a."), skill("b", "x" * 500)))

    assert text.splitlines()[2:] == ["- a: Does a.", f"- b: {'x' * 399}…", "</skills>"]


def test_very_many_skills_end_in_a_word_on_the_rest() -> None:
    text = catalogue_text(skill(f"skill-{number}", "x" * 400) for number in range(100))

    assert len(text) < LONGEST_CATALOGUE + 500
    assert text.splitlines()[-2] == '(71 more: the tool `skill`, action "list", names them)'


def test_the_skills_that_come_along_are_without_fault() -> None:
    shelf = shelf_of(BUNDLED)

    assert [each.name for each in shelf.found.skills] == [
        *("code-review", "commit", "create-skill", "debug", "write-tests")
    ]
    assert [problem for folder in skills_at(BUNDLED.folder) for problem in validate(folder)] == []
