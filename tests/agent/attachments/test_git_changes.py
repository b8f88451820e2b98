"""A changed repository differs from a clean one, and from none."""

from pathlib import Path

from coder_tui.agent.attachments.files import git_changes
from tests.fakes.repository import GitRepository
from tests.tools.builtin.git_bench import GitBench


async def test_changes_are_what_no_commit_holds(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "repo", tmp_path / "home")
    has_changes = git_changes(GitBench(repository.root).tools["git_status"], repository.root)
    repository.commit(a="1\n")
    before = await has_changes()
    repository.put("new", "x\n")
    assert (before, await has_changes()) == (False, True)


async def test_a_folder_without_a_repository_has_none(tmp_path: Path) -> None:
    assert not await git_changes(GitBench(tmp_path).tools["git_status"], tmp_path)()
