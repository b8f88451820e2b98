"""Who writes a skill learns what is wrong, with the line."""

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
        ("warning", 6, "../../secret lies outside of the skill's folder"),
        ("warning", 10, "assets/a.png does not exist"),
    ]


def test_a_path_means_a_skill_its_file_or_all_below(tmp_path: Path) -> None:
    one, two = put_skill(tmp_path, "one"), put_skill(tmp_path / "group", "two")

    assert skills_at(one) == skills_at(one / "SKILL.md") == (one,)
    assert skills_at(tmp_path) == (one, two)
    assert skills_at(tmp_path / "nowhere") == ()


def test_a_new_skill_wants_its_description(tmp_path: Path) -> None:
    file = new_skill(tmp_path / "new", "deploy", "")

    assert [(each.line, each.message) for each in validate(file.parent)] == [
        (3, "the description is still the one that a new skill begins with")
    ]


@pytest.mark.parametrize("name", ["", "../x", "Deploy", "a--b", "a/b", "x" * 65])
def test_a_name_that_is_no_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a skill"):
        new_skill(tmp_path, name, "")
    assert list(tmp_path.iterdir()) == []


def test_what_exists_stays_as_it_is(tmp_path: Path) -> None:
    folder = put_skill(tmp_path, "deploy", body="mine")
    with pytest.raises(UsageError, match="exists already"):
        new_skill(tmp_path, "deploy", "")
    assert "mine" in (folder / "SKILL.md").read_text()
