"""`coder-tui skill`: lists, creates and validates skills."""

import json
from pathlib import Path

import pytest

from coder_tui.cli.skill import main
from coder_tui.protocol.errors import UsageError
from tests.fakes.skill_files import put_skill


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, project = tmp_path / "home", tmp_path / "project"
    folder.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"CODER_TUI_{name}_DIR", str(folder / name.lower()))
    monkeypatch.chdir(project)
    return folder


def test_a_new_skill_is_valid_and_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "release-notes", "--description", "Use when: a release is due # soon"]) == 0
    folder = home / ".agents/skills/release-notes"
    assert main(["validate", "--strict", str(folder)]) == 0
    capsys.readouterr()

    main(["list", "--json"])

    listed = json.loads(capsys.readouterr().out)
    assert [row for row in listed["skills"] if row["name"] == "release-notes"] == [
        {
            "name": "release-notes",
            "description": "Use when: a release is due # soon",
            "source": "user",
            "directory": str(folder),
            "state": "ready",
            "note": "",
        }
    ]
    assert listed["problems"] == []


def test_a_skill_for_the_project_waits_for_trust(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["new", "deploy", "--project"])
    assert "once you trust the project" in capsys.readouterr().out
    assert (home.parent / "project/.agents/skills/deploy/SKILL.md").is_file()

    main(["list"])

    assert ".agents/skills/deploy/SKILL.md is not trusted" in capsys.readouterr().out


def test_the_list_marks_denied_shadowed_and_broken_skills(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_skill(home / ".agents/skills", "debug", "My way.")
    (home / ".agents/skills/bad").mkdir()
    (home / ".agents/skills/bad/SKILL.md").write_text("x")
    (home / "config").mkdir()
    (home / "config/config.toml").write_text('[permission.skill]\n"commit" = "deny"\n')

    assert main(["list"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert (
        "  commit        built-in      denied  (skill 'commit' = deny, from ~/config/config.toml:2)" in lines
    )
    assert "  debug         user          ready" in lines
    assert "  debug         built-in      shadowed  (by ~/.agents/skills/debug/SKILL.md)" in lines
    assert lines[-1].startswith("  ~/.agents/skills/bad/SKILL.md:1: error: there is no frontmatter")


def test_errors_end_with_one_and_warnings_only_when_strict(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, odd = put_skill(home / "s", "good"), put_skill(home / "s", "odd", body="See `scripts/gone.sh`.")
    (home / "bad").mkdir()
    (home / "bad/SKILL.md").write_text("---\nname: bad\n---\nGo.\n")

    codes = [
        main(["validate", *words])
        for words in (
            [str(good)],
            [str(odd)],
            ["--strict", str(odd)],
            [str(home / "bad")],
            [str(home / "s"), str(home / "bad")],
        )
    ]

    assert codes == [0, 0, 1, 1, 1]
    said = capsys.readouterr()
    assert "~/s/odd/SKILL.md:5: warning: scripts/gone.sh does not exist" in said.out
    assert "~/bad/SKILL.md:1: error: there is no description, so the skill could not be found" in said.out
    assert said.err.splitlines()[-1] == "3 skills, 2 problems."


def test_problems_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put_skill(home / "s", "odd", body="See `scripts/gone.sh`.")

    main(["validate", "--json", str(home / "s")])

    assert json.loads(capsys.readouterr().out) == {
        "skills": [str(home / "s/odd")],
        "problems": [
            {
                "severity": "warning",
                "file": str(home / "s/odd/SKILL.md"),
                "line": 5,
                "message": "scripts/gone.sh does not exist",
            }
        ],
    }


def test_a_folder_without_skills_is_a_usage_error(home: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no SKILL\.md in"):
        main(["validate", str(home)])
    with pytest.raises(UsageError, match="there is no folder"):
        main(["validate", str(home / "nowhere")])
