"""The user calls a skill with a slash, or by naming it in a sentence."""

from pathlib import Path

import pytest

from coder_tui.skills.session_skills import called_by_slash, named_in
from coder_tui.skills.skill import Skill, SkillSource


def skill(name: str, source: SkillSource = SkillSource.BUILTIN) -> Skill:
    return Skill(name, "x", "Go.", Path("/s") / name, source)


SKILLS = (skill("debug"), skill("code-review"), skill("deploy", SkillSource.PROJECT))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/debug", "debug"),
        ("  /debug the parser", "debug"),
        ("/DEBUG\nnow", "debug"),
        ("/deploy", "deploy"),
        ("/code-review", "code-review"),
        ("/code", ""),
        ("/debugger", ""),
        ("/debug/x.py", ""),
        ("look at /debug", ""),
        ("/usr/bin", ""),
    ],
)
def test_a_slash_calls_a_skill_only_at_the_start(text: str, name: str) -> None:
    found = called_by_slash(text, SKILLS)
    assert (found.name if found else "") == name


@pytest.mark.parametrize(
    "text",
    [
        "use the debug skill",
        "Use skill debug, please",
        "with the `debug` skill",
        "the skill “debug” might help",
        "the Debug skill.",
    ],
)
def test_naming_a_skill_calls_it(text: str) -> None:
    assert [found.name for found in named_in(text, SKILLS)] == ["debug"]


@pytest.mark.parametrize(
    "text",
    [
        "debug this",
        "a skillful debug",
        "my-debug skill",
        "debug skills are rare",
        "skill debugging",
        "look into skills/debug skill-set",
        "skill debug/x.md",
    ],
)
def test_a_word_that_happens_to_be_a_name_is_not_a_call(text: str) -> None:
    assert named_in(text, SKILLS) == ()


def test_the_skill_of_a_project_is_not_triggered_by_a_word() -> None:
    assert named_in("use the deploy skill and the code-review skill", SKILLS) == (SKILLS[1],)


def test_far_down_in_a_pasted_text_nothing_is_called() -> None:
    assert named_in("x" * 20_000 + " use the debug skill", SKILLS) == ()


def test_of_two_names_that_differ_in_case_the_typed_one_is_called() -> None:
    alike = (skill("Debug"), skill("debug"))
    assert [called_by_slash(text, alike) for text in ("/debug", "/Debug", "/DEBUG")] == [
        *(alike[1], alike[0], alike[0])
    ]
