"""Skills are found in all folders; the nearer source wins, and unused skills are reported."""

import os
from pathlib import Path

import pytest

from coder_tui.config.paths import Directories
from coder_tui.config.trust import Trust
from coder_tui.skills.discover import MOST_FOLDERS, FoundSkills, Root, discover, skill_roots
from coder_tui.skills.skill import SkillSource
from tests.fakes.skill_files import put_skill


@pytest.fixture
def directories(tmp_path: Path) -> Directories:
    return Directories(*(tmp_path / name for name in ("config", "data", "cache", "log")))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def look(directories: Directories, workspace: Path, *paths: str) -> FoundSkills:
    home = directories.config.parent / "home"
    return discover(skill_roots(workspace, directories, paths, home), Trust.load(directories))


def accept(directories: Directories, project: Path) -> None:
    trust = Trust.load(directories)
    trust.accept(trust.inventory(project))


def below(folder: Path) -> FoundSkills:
    trust = Trust(folder / "none")
    return discover([Root(folder, SkillSource.USER)], trust)


def test_the_nearer_source_wins_and_shadowing_is_reported(directories: Directories, project: Path) -> None:
    home, extra = directories.config.parent / "home", directories.config.parent / "extra"
    places = (
        home / ".claude/skills",
        home / ".agents/skills",
        directories.config / "skills",
        extra,
        project / ".agents/skills",
        project / ".claude/skills",
        project / ".coder-tui/skills",
    )
    for place in places:
        put_skill(place, "create-skill", description=str(place))
    accept(directories, project)

    found = look(directories, project, str(extra))

    by_name = {skill.name: skill for skill in found.skills}
    assert by_name["create-skill"].description == str(places[-1])
    assert [
        shadowed.skill.source for shadowed in found.shadowed if shadowed.skill.name == "create-skill"
    ] == [
        *(SkillSource.BUILTIN, SkillSource.USER, SkillSource.USER, SkillSource.USER, SkillSource.PATHS),
        *(SkillSource.PROJECT, SkillSource.PROJECT),
    ]
    assert found.problems == ()


def test_a_tilde_means_the_home_folder(directories: Directories, project: Path) -> None:
    put_skill(directories.config.parent / "home/mine", "special")

    found = look(directories, project, "~/mine")

    assert [skill.name for skill in found.skills if skill.source is SkillSource.PATHS] == ["special"]


def test_a_project_that_is_not_trusted_gives_nothing(directories: Directories, project: Path) -> None:
    put_skill(project / ".agents/skills", "deploy")

    found = look(directories, project)

    assert SkillSource.PROJECT not in {skill.source for skill in found.skills}
    assert [problem.message for problem in found.problems] == [
        "not used: .agents/skills/deploy/SKILL.md is not trusted; "
        f"run 'coder-tui trust {project}' to review it"
    ]


@pytest.mark.parametrize("name", ["SKILL.md", "scripts/go.sh", "scripts/new.sh"])
def test_trust_ends_when_any_file_of_the_skill_changes(
    name: str, directories: Directories, project: Path
) -> None:
    skill = put_skill(project / ".claude/skills", "deploy")
    (skill / "scripts").mkdir()
    (skill / "scripts/go.sh").write_text("true\n")
    accept(directories, project)
    before = [each.name for each in look(directories, project).skills if each.source is SkillSource.PROJECT]

    with (skill / name).open("a") as file:
        file.write("more\n")
    after = look(directories, project)

    assert before == ["deploy"]
    assert SkillSource.PROJECT not in {each.source for each in after.skills}
    assert [f"/{name} is not trusted" in problem.message for problem in after.problems] == [True]


def test_a_file_that_cannot_be_hashed_keeps_the_skill_out(directories: Directories, project: Path) -> None:
    skill = put_skill(project / ".claude/skills", "deploy")
    (skill / "big.bin").write_bytes(b"x" * 1_000_001)
    accept(directories, project)

    found = look(directories, project)

    assert [problem.message for problem in found.problems] == [
        "not used: .claude/skills/deploy/big.bin is larger than 1000000 bytes, so it cannot be trusted"
    ]


def test_folders_above_count_up_to_the_repository_and_the_nearest_wins(
    directories: Directories, project: Path
) -> None:
    inner = project / "packages/web"
    inner.mkdir(parents=True)
    put_skill(project / ".agents/skills", "deploy", "outer")
    put_skill(project / ".agents/skills", "release", "outer")
    put_skill(inner / ".agents/skills", "deploy", "inner")
    put_skill(project.parent / ".agents/skills", "foreign", "beyond the repository")
    for folder in (project, inner, project.parent):
        accept(directories, folder)

    found = look(directories, inner)

    assert [(each.name, each.description) for each in found.skills if each.source is SkillSource.PROJECT] == [
        ("deploy", "inner"),
        ("release", "outer"),
    ]


def test_a_broken_skill_is_reported_and_the_others_are_used(tmp_path: Path) -> None:
    put_skill(tmp_path, "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/SKILL.md").write_text("---\nname: bad\n---\nGo.\n")

    found = below(tmp_path)

    assert [skill.name for skill in found.skills] == ["good"]
    assert [(problem.file, problem.line) for problem in found.problems] == [(tmp_path / "bad/SKILL.md", 1)]


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    outside = put_skill(tmp_path / "outside", "secret")
    root = tmp_path / "skills"
    root.mkdir()
    (root / "linked").symlink_to(outside)
    (root / "half").mkdir()
    (root / "half/SKILL.md").symlink_to(outside / "SKILL.md")

    found = below(root)

    assert found.skills == ()
    assert [(problem.file, problem.message) for problem in found.problems] == [
        (
            root / "linked",
            "not followed: the link leads out of its folder; add its target to skills.paths",
        ),
        (root / "half/SKILL.md", "leads out of the project through a link"),
    ]


def test_a_linked_folder_of_a_project_is_not_used(directories: Directories, project: Path) -> None:
    put_skill(project / "elsewhere/skills", "deploy")
    (project / ".agents").symlink_to(project / "elsewhere")
    accept(directories, project)

    found = look(directories, project)

    assert SkillSource.PROJECT not in {skill.source for skill in found.skills}
    assert [problem.message for problem in found.problems] == ["not used: the path goes through a link"]


def test_cycles_pipes_and_unreadable_folders_are_handled(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to(tmp_path)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/SKILL.md")

    found = below(tmp_path)

    assert found.skills == ()
    assert [problem.message for problem in found.problems] == ["is not a regular file"]


def test_the_search_is_bounded_in_depth_and_number(tmp_path: Path) -> None:
    put_skill(tmp_path / "1/2/3/4/5", "deep")
    put_skill(tmp_path / "1/2/3/4/5/6", "deeper")
    assert [skill.name for skill in below(tmp_path).skills] == ["deep"]

    for number in range(MOST_FOLDERS):
        (tmp_path / f"many/{number}").mkdir(parents=True)
    assert [problem.message for problem in below(tmp_path / "many").problems] == [
        "has more than 2000 folders; the rest was not searched"
    ]


def test_two_of_one_name_in_one_folder(tmp_path: Path) -> None:
    put_skill(tmp_path, "same", "near")
    put_skill(tmp_path / "group", "same", "far")

    found = below(tmp_path)

    assert [skill.description for skill in found.skills] == ["near"]
    assert [problem.file for problem in found.problems] == [tmp_path / "group/same/SKILL.md"]


def test_an_undecodable_path_is_reported(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/sk\xff"))
    folder.mkdir()
    put_skill(tmp_path, "good")
    (folder / "SKILL.md").write_text("---\nname: x\ndescription: x\n---\nGo.\n")

    found = below(tmp_path)

    assert [skill.name for skill in found.skills] == ["good"]
    assert [problem.message for problem in found.problems] == ["the path is not valid Unicode"]
