"""`git_add` stages exactly what was shown, never by force."""

from pathlib import Path

import pytest

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from tests.fakes.repository import GitRepository
from tests.tools.builtin.git_bench import GitBench


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    made = GitRepository(tmp_path / "repo", tmp_path / "home")
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return made


@pytest.fixture
def bench(repository: GitRepository) -> GitBench:
    return GitBench(repository.root)


def staged(repository: GitRepository) -> list[str]:
    return repository.git("diff", "--cached", "--name-status", "-z").split("\0")[:-1]


async def test_a_folder_is_staged_with_its_deletions(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(**{"d/gone": "1\n", "d/kept": "1\n", "other": "1\n"})
    (repository.root / "d/gone").unlink()
    for name in ("d/kept", "other", "d/néw [x]*"):
        repository.put(name, "2\n")

    result = await bench.result("git_add", path="d")

    assert result.for_model == {"ok": True, "files": ["d/gone", "d/kept", "d/néw [x]*"]}
    assert result.summary == "staged 3 files"
    assert staged(repository) == ["D", "d/gone", "M", "d/kept", "A", "d/néw [x]*"]


async def test_of_many_files_the_first_are_named(repository: GitRepository, bench: GitBench) -> None:
    for number in range(503):
        repository.put(f"d/{number:03}")

    result = await bench.call("git_add", path="d")

    assert (len(result["files"]), result["files"][-1], result["files_left_out"]) == (500, "d/499", 3)
    assert len(staged(repository)) == 2 * 503


async def test_every_file_is_declared_and_shown(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(a="1\n")
    repository.put("a", "2\n")
    repository.put(".env", "KEY=1")

    access = await bench.access("git_add", path=".")

    root = repository.root
    assert access.targets == (
        Target(TargetKind.NAME, ".", writes=True),
        Target(TargetKind.PATH, f"{root}/a"),
        Target(TargetKind.PATH, f"{root}/.env"),
    )
    assert access.preview == TextBlock("changed      a\nnew          .env")


async def test_what_came_up_after_the_approval_is_not_staged(
    repository: GitRepository, bench: GitBench
) -> None:
    repository.put("a", "1\n")
    access = await bench.access("git_add", path=".")
    repository.put("id_rsa", "secret")

    with pytest.raises(Exception, match="changed since this call was approved"):
        await bench.run("git_add", access, path=".")

    assert staged(repository) == []


async def test_ignored_files_are_reported_and_never_forced(
    repository: GitRepository, bench: GitBench
) -> None:
    repository.put(".gitignore", "*.log\nbuild/\n")
    repository.put("a", "")
    repository.put("x.log", "")
    repository.put("build/deep/file", "")

    error = await bench.failure("git_add", path="x.log")
    result = await bench.call("git_add", path=".")

    assert (error.type, error.message) == (
        ErrorType.EXECUTION_FAILED,
        "Nothing staged: x.log is ignored by git.",
    )
    assert result == {"ok": True, "files": [".gitignore", "a"], "ignored": ["build", "x.log"]}


async def test_a_path_outside_is_refused(bench: GitBench) -> None:
    assert (await bench.failure("git_add", path="../home")).type is ErrorType.PERMISSION_DENIED


async def test_a_link_is_staged_as_a_link(repository: GitRepository, bench: GitBench, tmp_path: Path) -> None:
    (repository.root / "link").symlink_to(tmp_path / "home")

    assert (await bench.call("git_add", path="link"))["files"] == ["link"]
    assert repository.git("ls-files", "--stage").startswith("120000 ")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("missing", (ErrorType.FILE_NOT_FOUND, "No file or folder at missing.")),
        (
            "a",
            (
                ErrorType.EXECUTION_FAILED,
                "There is nothing to stage at a: it is unchanged or already staged.",
            ),
        ),
        ("nested", (ErrorType.EXECUTION_FAILED, "nested/ is a separate repository.")),
        ("a\0b", (ErrorType.INVALID_TOOL_PARAMS, "invalid args: path: must not contain a NUL character")),
    ],
)
async def test_nothing_to_stage_is_explained(
    repository: GitRepository, bench: GitBench, path: str, expected: tuple[ErrorType, str]
) -> None:
    repository.commit(a="1\n")
    nested = GitRepository(repository.root / "nested", repository.home)
    nested.commit(x="1\n")

    error = await bench.failure("git_add", path=path)

    assert (error.type, error.message) == expected


async def test_a_filter_of_the_repository_runs_only_when_it_was_named(
    repository: GitRepository, bench: GitBench, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    program = repository.script("clean.sh", canary)
    repository.put(".gitattributes", "*.txt filter=mine\n")
    repository.commit()
    repository.git("config", "filter.mine.clean", str(program))
    repository.put("a.txt", "1\n")

    access = await bench.access("git_add", path="a.txt")

    assert not canary.exists()
    assert access.targets[-1] == Target(TargetKind.COMMAND, str(program), writes=True)
    assert access.facts == (f"runs {program}, which the repository's own settings name",)
    await bench.run("git_add", access, path="a.txt")
    assert canary.read_text() == "clean.sh\n"


async def test_a_program_that_was_set_after_the_approval_does_not_run(
    repository: GitRepository, bench: GitBench, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    repository.put(".gitattributes", "*.txt filter=mine\n")
    repository.commit()
    repository.put("a.txt", "1\n")
    access = await bench.access("git_add", path="a.txt")
    repository.git("config", "filter.mine.clean", str(repository.script("clean.sh", canary)))

    with pytest.raises(Exception, match="changed since this call was approved"):
        await bench.run("git_add", access, path="a.txt")

    assert not canary.exists()


async def test_the_users_own_filter_runs(repository: GitRepository, bench: GitBench, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    program = repository.script("clean.sh", canary, "tr a-z A-Z")
    repository.git("config", "--global", "filter.mine.clean", str(program))
    repository.put(".gitattributes", "*.txt filter=mine\n")
    repository.put("a.txt", "abc\n")

    access = await bench.access("git_add", path="a.txt")

    assert not canary.exists()
    await bench.run("git_add", access, path="a.txt")
    assert repository.git("show", ":a.txt") == "ABC\n"
