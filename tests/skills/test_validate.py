"""Authors of skills get every problem with its line."""

from pathlib import Path

import pytest

from coder_tui.protocol.errors import UsageError
from coder_tui.skills.authoring import new_skill, skills_at, validate
from tests.fakes.skill_files import put_skill


def test_files_that_the_body_names_must_exist(tmp_path: Path) -> None:
    body = (
        "See [this](references/here.md#part), [that](references/gone.md), `scripts/go.sh`,\n"
        "[out](../../secret), [net](https://example.org/x) and `references/`.\n"
        "```\n[not this](never.md)\n```\n`assets/a.png`"
    )
    folder = put_skill(tmp_path, "deploy", body=body)
    (folder / "references").mkdir()
    (folder / "references/here.md").touch()

    assert [(each.severity, each.line, each.message) for each in validate(folder)] == [
        ("warning", 5, "references/gone.md does not exist"),
        ("warning", 5, "scripts/go.sh does not exist"),
        ("warning", 6, "../../secret is outside the skill's folder"),
        ("warning", 10, "assets/a.png does not exist"),
    ]


def test_a_path_can_be_a_skill_its_file_or_a_folder_of_skills(tmp_path: Path) -> None:
    one, two = put_skill(tmp_path, "one"), put_skill(tmp_path / "group", "two")

    assert skills_at(one) == skills_at(one / "SKILL.md") == (one,)
    assert skills_at(tmp_path) == (one, two)
    assert skills_at(tmp_path / "nowhere") == ()


def test_a_new_skill_needs_a_description(tmp_path: Path) -> None:
    file = new_skill(tmp_path / "new", "deploy", "")

    assert [(each.line, each.message) for each in validate(file.parent)] == [
        (3, "the description is still the template's")
    ]


@pytest.mark.parametrize("name", ["", "../x", "Deploy", "a--b", "a/b", "x" * 65])
def test_an_invalid_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a valid skill name"):
        new_skill(tmp_path, name, "")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_skill_is_not_overwritten(tmp_path: Path) -> None:
    folder = put_skill(tmp_path, "deploy", body="mine")
    with pytest.raises(UsageError, match="already exists"):
        new_skill(tmp_path, "deploy", "")
    assert "mine" in (folder / "SKILL.md").read_text()
