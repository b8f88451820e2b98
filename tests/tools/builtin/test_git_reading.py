"""The reading git tools report what git knows, and explain if there is nothing."""

from pathlib import Path

import pytest

from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import DiffBlock, TextBlock
from coder_tui.protocol.errors import ErrorType
from tests.fakes.repository import GitRepository
from tests.tools.builtin.git_bench import GitBench

READING = ("git_status", "git_diff", "git_log")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    made = GitRepository(tmp_path / "repo", tmp_path / "home")
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return made


@pytest.fixture
def bench(repository: GitRepository) -> GitBench:
    return GitBench(repository.root)


async def test_a_status_in_short_form(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(a="1\n")
    repository.put("a", "2\n")
    repository.put("ünï b", "")

    assert await bench.call("git_status", short=True) == {
        "ok": True,
        "content": '## main\n M a\n?? "ünï b"\n',
    }


async def test_a_status_in_long_form(repository: GitRepository, bench: GitBench) -> None:
    repository.put("new", "")

    content = (await bench.call("git_status"))["content"]

    assert content.startswith("On branch main\n\nNo commits yet\n")
    assert "Untracked files:\n\tnew\n" in content


async def test_the_users_global_ignore_file_applies(repository: GitRepository, bench: GitBench) -> None:
    ignore = repository.home / ".config/git/ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text(".DS_Store\n")
    repository.put(".DS_Store")

    assert (await bench.call("git_status", short=True))["content"] == "## No commits yet on main\n"


async def test_a_diff_of_what_is_not_staged(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(a="1\n")
    repository.put("a", "2\n")

    result = await bench.result("git_diff")

    assert result.for_model["content"].endswith("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n")
    assert result.for_user == DiffBlock("a", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n", 1, 1)


async def test_a_diff_of_a_deleted_file_has_its_name(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(a="1\n")
    (repository.root / "a").unlink()

    result = await bench.result("git_diff")

    assert result.for_user == DiffBlock("a", "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n", 0, 1)


async def test_a_diff_of_what_is_staged(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(a="1\n")
    repository.put("a", "2\n")
    repository.git("add", "a")

    assert (await bench.call("git_diff"))["content"] == ""
    assert "+2\n" in (await bench.call("git_diff", staged=True))["content"]


async def test_a_diff_of_one_path(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(**{"a": "1\n", "d/b*": "1\n", "d/bb": "1\n"})
    for name in ("a", "d/b*", "d/bb"):
        repository.put(name, "2\n")

    content = (await bench.call("git_diff", path="d/b*"))["content"]

    assert [line for line in content.splitlines() if line.startswith("+++")] == ["+++ b/d/b*"]


async def test_a_diff_declares_its_place(repository: GitRepository, bench: GitBench) -> None:
    root = str(repository.root)

    assert (await bench.access("git_diff", path="x/.env")).targets == (
        Target(TargetKind.PATH, f"{root}/x/.env"),
    )
    assert (await bench.access("git_diff", path="../../etc")).targets[0].value.endswith("/etc")
    assert (await bench.access("git_diff")).targets == (Target(TargetKind.PATH, root),)


async def test_secrets_are_left_out_of_a_diff_that_does_not_name_them(
    repository: GitRepository, bench: GitBench
) -> None:
    repository.commit(**{"a": "1\n", ".env": "KEY=1\n"})
    repository.put("a", "2\n")
    repository.put(".env", "KEY=hunter2\n")

    result = await bench.call("git_diff")

    assert "hunter2" not in result["content"]
    assert result["note"] == "Left out as secrets or by a rule: .env. A secret is shown only if named."
    assert "hunter2" in (await bench.call("git_diff", path=".env"))["content"]


async def test_a_workspace_below_the_top_sees_its_own_part(repository: GitRepository) -> None:
    repository.commit(**{"above": "1\n", "part/a": "1\n"})
    repository.put("above", "2\n")
    repository.put("part/a", "2\n")
    bench = GitBench(repository.root / "part")

    assert (await bench.call("git_status", short=True))["content"] == "## main\n M a\n"
    assert "above" not in (await bench.call("git_diff"))["content"]
    assert "+++ b/a\n" in (await bench.call("git_diff"))["content"]


async def test_the_newest_commits(repository: GitRepository, bench: GitBench) -> None:
    hashes = [repository.commit(f"number {number} é") for number in range(25)]

    result = await bench.call("git_log", oneline=True)
    one = await bench.call("git_log", limit=1)

    assert len(result["content"].splitlines()) == 20
    assert result["content"].startswith(f"{hashes[-1][:7]} (HEAD -> main) number 24 é\n")
    assert "Author: Ada Lovelace <ada@example.org>\n" in one["content"]
    assert one["content"].count("commit ") == 1
    assert len((await bench.call("git_log", oneline=True, limit=-3))["content"].splitlines()) == 20


async def test_a_repository_without_commits_is_reported(bench: GitBench) -> None:
    result = await bench.result("git_log")

    assert result.for_model == {"ok": True, "content": "There are no commits yet."}
    assert result.for_user == TextBlock("There are no commits yet.")


@pytest.mark.parametrize("tool", READING)
async def test_a_folder_that_is_no_repository(tool: str, tmp_path: Path) -> None:
    error = await GitBench(tmp_path).failure(tool)

    assert (error.type, error.message) == (
        ErrorType.NOT_A_REPOSITORY,
        f"{tmp_path} is not in a git repository.",
    )
    assert "bash" in error.hint


@pytest.mark.parametrize("tool", READING)
async def test_git_is_missing(tool: str, bench: GitBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent:bin")

    error = await bench.failure(tool)

    assert (error.type, error.message) == (ErrorType.NOT_INSTALLED, "git is not installed.")
    assert "bash" in error.hint


@pytest.mark.parametrize("tool", ["git_status", "git_diff"])
async def test_a_broken_index_is_reported_in_gits_words(
    repository: GitRepository, bench: GitBench, tool: str
) -> None:
    repository.commit(a="1\n")
    repository.put(".git/index", b"nonsense that is long enough to be read as an index")

    error = await bench.failure(tool)

    assert error.type is ErrorType.EXECUTION_FAILED
    assert "index file" in error.message
    assert "bash" in error.hint


async def test_a_huge_output_is_cut_and_marked(repository: GitRepository, bench: GitBench) -> None:
    repository.commit(a="")
    repository.put("a", "a line that is repeated\n" * 60_000)

    result = await bench.call("git_diff")

    assert result["truncated"] is True
    assert "[output truncated]" in result["content"]
    assert len(result["content"]) <= 1_000_000


async def test_a_linked_worktree_is_read(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit(a="1\n")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "side")
    (tmp_path / "tree/a").write_text("2\n")

    assert (await GitBench(tmp_path / "tree").call("git_status", short=True))["content"] == "## side\n M a\n"


async def test_a_submodule_that_is_opened_itself_is_read(repository: GitRepository, tmp_path: Path) -> None:
    other = GitRepository(tmp_path / "other", repository.home)
    other.commit(a="1\n")
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    repository.put("sub/a", "2\n")

    content = (await GitBench(repository.root / "sub").call("git_status", short=True))["content"]

    assert content.splitlines()[1] == " M a"
