"""A session's skills: offered unless denied, loaded as they are now, their folder opened for reading."""

from pathlib import Path

import pytest

from coder_tui.config.paths import Directories
from coder_tui.config.trust import Trust
from coder_tui.skills.authoring import SkillState, skill_report, skill_rows, skill_warnings
from coder_tui.skills.discover import Root
from coder_tui.skills.session_skills import MOST_FILES, LoadedSkill, SkillError
from coder_tui.skills.skill import SkillSource
from tests.fakes.skill_files import put_skill, session_skills_of


def user(folder: Path) -> Root:
    return Root(folder, SkillSource.USER)


def test_a_loaded_skill_has_its_text_and_lists_its_files(tmp_path: Path) -> None:
    folder = put_skill(tmp_path, "deploy", body="Run scripts/go.sh.")
    (folder / "scripts").mkdir()
    (folder / "scripts/go.sh").write_text("true\n")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/x.pyc").touch()
    (folder / "passwd").symlink_to("/etc/passwd")
    opened: list[Path] = []
    skills = session_skills_of(user(tmp_path), allow_reading=opened.append)

    loaded = skills.load(skills.found.skills[0])

    assert loaded == LoadedSkill(skills.found.skills[0], ("scripts/go.sh",))
    assert loaded.text == (
        f'<skill name="deploy" directory="{folder}">\nRun scripts/go.sh.\n\n'
        "Files in that directory; read them when the text refers to them:\n"
        "- scripts/go.sh\n</skill>"
    )
    assert (skills.loaded(), opened) == (("deploy",), [folder])


def test_loading_reads_the_present_text(tmp_path: Path) -> None:
    put_skill(tmp_path, "deploy", body="old")
    skills = session_skills_of(user(tmp_path))
    put_skill(tmp_path, "deploy", body="new")

    assert skills.load(skills.found.skills[0]).skill.body == "new"


def test_a_project_skill_that_changed_since_it_was_trusted_is_not_loaded(tmp_path: Path) -> None:
    directories = Directories(*(tmp_path / name for name in ("config", "data", "cache", "log")))
    project = tmp_path / "project"
    folder = put_skill(project / ".agents/skills", "deploy")
    (folder / "go.sh").write_text("true\n")
    trust = Trust.load(directories)
    trust.accept(trust.inventory(project))
    skills = session_skills_of(Root(project / ".agents/skills", SkillSource.PROJECT, project), trust=trust)
    (folder / "go.sh").write_text("evil\n")

    with pytest.raises(SkillError, match=r"go\.sh is not trusted"):
        skills.load(skills.found.skills[0])
    assert skills.loaded() == ()


def test_a_skill_that_is_gone_or_broken_says_so(tmp_path: Path) -> None:
    folder = put_skill(tmp_path, "deploy")
    skills = session_skills_of(user(tmp_path))
    (folder / "SKILL.md").write_text("no head\n")
    with pytest.raises(SkillError, match=r"SKILL\.md:1: error: there is no frontmatter"):
        skills.load(skills.found.skills[0])
    (folder / "SKILL.md").unlink()
    with pytest.raises(SkillError, match="the file does not exist"):
        skills.load(skills.found.skills[0])


def test_denied_skills_and_those_only_for_the_user_are_not_offered(tmp_path: Path) -> None:
    put_skill(tmp_path, "open")
    put_skill(tmp_path, "denied")
    (put_skill(tmp_path, "mine") / "SKILL.md").write_text(
        "---\nname: mine\ndescription: x\ndisable-model-invocation: true\n---\nGo.\n"
    )
    skills = session_skills_of(user(tmp_path), denied=("denied",))

    assert [skill.name for skill in skills.offered()] == ["open"]
    assert [skill.name for skill in skills.callable_by_user()] == ["mine", "open"]
    assert [(row.skill.name, row.state) for row in skill_rows(skills)] == [
        ("denied", SkillState.DENIED),
        ("mine", SkillState.YOURS),
        ("open", SkillState.READY),
    ]


def test_the_conversation_determines_what_is_loaded(tmp_path: Path) -> None:
    folder = put_skill(tmp_path, "deploy")
    put_skill(tmp_path, "denied")
    opened: list[Path] = []
    held = ["deploy", "denied", "gone"]

    skills = session_skills_of(
        user(tmp_path), denied=("denied",), allow_reading=opened.append, held=lambda: tuple(held)
    )

    assert (skills.is_loaded("deploy"), opened) == (True, [folder])
    held.clear()
    assert not skills.is_loaded("deploy")


def test_the_list_of_files_ends(tmp_path: Path) -> None:
    folder = put_skill(tmp_path, "many")
    for number in range(MOST_FILES + 5):
        (folder / f"{number:04}").touch()
    skills = session_skills_of(user(tmp_path))

    files = skills.load(skills.found.skills[0]).files

    assert (len(files), files[-1]) == (MOST_FILES + 1, "… (more than 200; use list to see all)")


def test_the_report_names_sources_states_and_what_is_wrong(tmp_path: Path) -> None:
    put_skill(tmp_path / "weak", "deploy", "Old way.")
    put_skill(tmp_path / "strong", "deploy", "New way.")
    (tmp_path / "strong/bad").mkdir()
    (tmp_path / "strong/bad/SKILL.md").write_text("x\n")
    skills = session_skills_of(Root(tmp_path / "weak", SkillSource.BUILTIN), user(tmp_path / "strong"))

    assert skill_report(skills) == (
        "1 skill. Call one with /NAME, or name it in a message.",
        "  deploy  user          ready",
        "          New way.",
        f"  deploy  built-in      shadowed  (by {tmp_path}/strong/deploy/SKILL.md)",
        "Problems:",
        f"  {tmp_path}/strong/bad/SKILL.md:1: error: there is no frontmatter: "
        "the file must start with a line ---",
    )


def test_the_first_broken_skills_are_reported_at_start(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"bad-{number}").mkdir()
        (tmp_path / f"bad-{number}/SKILL.md").write_text("x\n")

    warnings = skill_warnings(session_skills_of(user(tmp_path)).found)

    assert warnings[0] == (
        f"A skill is not used: {tmp_path}/bad-0/SKILL.md:1: error: there is no frontmatter: "
        "the file must start with a line ---"
    )
    assert (len(warnings), warnings[-1]) == (4, "2 more skills are not used; /skills shows why.")


def test_a_skill_added_later_can_be_called_and_the_prompt_stays_the_same(tmp_path: Path) -> None:
    put_skill(tmp_path, "old")
    skills = session_skills_of(user(tmp_path))
    before = skills.found
    skills.refresh()
    assert skills.found is before
    put_skill(tmp_path, "new")

    skills.refresh()

    assert [skill.name for skill in skills.offered()] == ["old"]
    assert [skill.name for skill in skills.available()] == ["new", "old"]
    assert skills.find("new") is not None
