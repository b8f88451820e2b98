"""`git_commit` commits what was shown, under the user's name, and runs only what it named."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from coder_tui.tools.builtin.git_commit import GitCommitParams
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


def stage(repository: GitRepository, name: str = "a", content: str = "1\n") -> None:
    repository.put(name, content)
    repository.git("add", name)


async def test_what_is_staged_is_committed_under_the_users_name(
    repository: GitRepository, bench: GitBench
) -> None:
    repository.commit(a="1\n")
    stage(repository, content="2\n")
    repository.put("not-staged", "x")

    result = await bench.result("git_commit", message="  Fix #12: it\n\n# kept: no editor ran\nwhy\n")

    head = repository.git("rev-parse", "HEAD").strip()
    assert result.for_model == {"ok": True, "commit": head}
    shown = repository.git("show", "--format=%an <%ae>%n%B", "--name-only", "HEAD")
    assert shown == ("Ada Lovelace <ada@example.org>\nFix #12: it\n\n# kept: no editor ran\nwhy\n\n\na\n")


@pytest.mark.parametrize("message", ["", "  \n\t", "# only\n#a comment\n", "a\0b", "x" * 100_001])
def test_a_message_that_says_nothing_is_invalid(message: str) -> None:
    with pytest.raises(ValidationError):
        GitCommitParams(message=message)


async def test_half_a_character_is_refused(repository: GitRepository, bench: GitBench) -> None:
    stage(repository)

    assert (await bench.failure("git_commit", message="a\udcff")).type is ErrorType.INVALID_TOOL_PARAMS


@pytest.mark.parametrize("message", ["--amend", "-a", "--no-verify -m x", "--file=/etc/passwd"])
async def test_a_message_is_never_a_flag(repository: GitRepository, bench: GitBench, message: str) -> None:
    repository.commit("first", a="1\n")
    stage(repository, content="2\n")

    await bench.call("git_commit", message=message)

    assert repository.git("log", "--format=%s").splitlines() == [message, "first"]


async def test_nothing_staged_is_said(repository: GitRepository, bench: GitBench) -> None:
    repository.put("a", "")

    error = await bench.failure("git_commit", message="x")

    assert (error.type, error.message, error.hint) == (
        ErrorType.EXECUTION_FAILED,
        "Nothing is staged.",
        "Stage files with git_add first.",
    )


async def test_the_approval_shows_message_files_and_what_would_run(
    repository: GitRepository, bench: GitBench, tmp_path: Path
) -> None:
    stage(repository)
    stage(repository, "b.bin", "\0")
    hook = repository.script(".git/hooks/pre-commit", tmp_path / "canary")

    access = await bench.access("git_commit", message="Subject\n\nwhy")

    assert access.preview == TextBlock(
        "Subject\n\nwhy\n\nnew          a  +1 -0\nnew          b.bin  (not text)"
    )
    assert access.facts == (
        "commits to main as Ada Lovelace <ada@example.org>",
        f"runs the hook pre-commit ({hook})",
    )
    assert access.targets == (
        Target(TargetKind.NAME, "main", writes=True),
        Target(TargetKind.PATH, f"{repository.root}/a"),
        Target(TargetKind.PATH, f"{repository.root}/b.bin"),
        Target(TargetKind.COMMAND, str(hook), writes=True),
    )
    assert not (tmp_path / "canary").exists()


async def test_approved_hooks_run(repository: GitRepository, bench: GitBench, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    stage(repository)
    repository.script(".git/hooks/pre-commit", canary)

    await bench.call("git_commit", message="x")

    assert canary.read_text() == ".git/hooks/pre-commit\n"


async def test_hooks_from_a_folder_of_the_project_are_named(
    repository: GitRepository, bench: GitBench, tmp_path: Path
) -> None:
    repository.git("config", "core.hooksPath", ".husky")
    hook = repository.script(".husky/commit-msg", tmp_path / "canary")
    stage(repository)

    access = await bench.access("git_commit", message="x")

    assert access.facts[1:] == (f"runs the hook commit-msg ({hook})",)


async def test_a_failing_hook_is_reported_in_its_own_words(
    repository: GitRepository, bench: GitBench, tmp_path: Path
) -> None:
    stage(repository)
    repository.script(".git/hooks/pre-commit", tmp_path / "canary", "echo tests fail >&2; exit 1")

    error = await bench.failure("git_commit", message="x")

    assert (error.type, error.message) == (ErrorType.EXECUTION_FAILED, "git: tests fail")


@pytest.mark.parametrize("change", ["content", "hook", "message"])
async def test_what_changed_since_the_approval_is_not_committed(
    repository: GitRepository, bench: GitBench, tmp_path: Path, change: str
) -> None:
    stage(repository)
    repository.script(".git/hooks/pre-commit", tmp_path / "canary")
    access = await bench.access("git_commit", message="x")
    if change == "content":
        stage(repository, content="other\n")
    if change == "hook":
        repository.script(".git/hooks/pre-commit", tmp_path / "canary", "echo changed")

    with pytest.raises(Exception, match="changed since this call was approved"):
        await bench.run("git_commit", access, message="y" if change == "message" else "x")

    assert not (tmp_path / "canary").exists()
    assert repository.git("rev-list", "--all") == ""


async def test_without_a_name_it_says_how_to_set_one(
    repository: GitRepository, bench: GitBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.home / ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody else")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "else@example.org")
    stage(repository)

    error = await bench.failure("git_commit", message="x")

    assert (error.type, error.message) == (
        ErrorType.EXECUTION_FAILED,
        "git does not know who the author is.",
    )
    assert "git config --global user.name" in error.hint


async def test_the_repository_does_not_choose_the_signing_program(
    repository: GitRepository, bench: GitBench, tmp_path: Path
) -> None:
    theirs, own = tmp_path / "theirs", tmp_path / "own"
    repository.git("config", "commit.gpgSign", "true")
    repository.git("config", "gpg.program", str(repository.script("evil-gpg", theirs, "exit 1")))
    repository.git("config", "--global", "gpg.program", str(repository.script("own-gpg", own, "exit 1")))
    stage(repository)

    access = await bench.access("git_commit", message="x")
    error = await bench.failure("git_commit", message="x")

    assert "signs with your own key" in access.facts
    assert "gpg failed to sign" in error.message
    assert (own.exists(), theirs.exists()) == (True, False)


async def test_a_merge_is_concluded(repository: GitRepository, bench: GitBench) -> None:
    repository.commit("base", a="1\n")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("side", b="1\n")
    repository.git("checkout", "--quiet", "main")
    repository.commit("main", c="1\n")
    repository.git("merge", "--no-commit", "--no-ff", "side")

    access = await bench.access("git_commit", message="Merge side")
    await bench.run("git_commit", access, message="Merge side")

    assert "concludes a merge" in access.facts
    assert len(repository.git("log", "-1", "--format=%p").split()) == 2
