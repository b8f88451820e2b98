"""The branch as git's files have it."""

from pathlib import Path

from coder_tui.ui.chrome.status_bar import read_branch
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import stage


def repository(folder: Path, head: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(head)
    return folder


def test_the_branch_is_found_from_a_folder_below(tmp_path: Path) -> None:
    below = repository(tmp_path / "repo", "ref: refs/heads/feature/x\n") / "a" / "b"
    below.mkdir(parents=True)
    assert read_branch(below) == "feature/x"


def test_a_detached_head_shows_the_start_of_its_commit(tmp_path: Path) -> None:
    assert read_branch(repository(tmp_path, "0123456789abcdef\n")) == "0123456"


def test_a_worktree_is_followed_to_its_own_head(tmp_path: Path) -> None:
    real = tmp_path / "store"
    real.mkdir()
    (real / "HEAD").write_text("ref: refs/heads/side\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../store\n")
    assert read_branch(tree) == "side"


def test_outside_a_repository_there_is_no_branch(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("not a pointer")
    assert read_branch(tmp_path) == ""


async def test_a_star_after_the_branch_means_changes(tmp_path: Path) -> None:
    async with stage(FakeSession(repository(tmp_path, "ref: refs/heads/main\n"))) as s:
        await s.until(lambda: s.app.session_screen.status.status.branch == "main*")
