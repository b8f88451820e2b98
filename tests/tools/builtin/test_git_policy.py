"""What a rule for the git tools covers, through the whole runner: never a program that it does not name."""

from pathlib import Path

import pytest

from coder_tui.protocol.access import Mode
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.fakes.real_tools import RealTools, setup_in
from tests.fakes.repository import GitRepository

RULES = '[permission]\ngit_add = "allow"\ngit_commit = "allow"\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    made = GitRepository(tmp_path / "repo", tmp_path / "home")
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return made


def tools(repository: GitRepository, rules: str = "", mode: Mode = Mode.ASK) -> RealTools:
    folder = repository.home / "config"
    folder.mkdir()
    (folder / "config.toml").write_text(rules)
    return RealTools(setup_in(repository.home, repository.root, mode))


async def test_staging_and_committing_ask_and_show_what_they_do(repository: GitRepository) -> None:
    repository.put("a", "1\n")
    bench = tools(repository)
    bench.answer = lambda request: ApprovalReply(Decision.ALLOW_ONCE)

    await bench.call("git_add", path="a")
    result = await bench.call("git_commit", message="First\n\nwhy")

    assert result == {"ok": True, "commit": repository.git("rev-parse", "HEAD").strip()}
    assert [request.title for request in bench.asked] == [
        "Allow git_add?  git add a",
        "Allow git_commit?  First",
    ]
    editable = bench.asked[1].editable
    assert editable is not None
    assert (editable.text, editable.suffix) == ("First\n\nwhy", ".txt")


async def test_an_edited_message_is_committed(repository: GitRepository) -> None:
    repository.put("a", "1\n")
    repository.git("add", "a")
    bench = tools(repository)
    bench.answer = lambda request: ApprovalReply(Decision.MODIFY, edited="Better")

    await bench.call("git_commit", message="First")

    assert repository.git("log", "--format=%s") == "Better\n"


async def test_a_rule_lets_them_run(repository: GitRepository) -> None:
    repository.put("a", "1\n")
    bench = tools(repository, RULES)

    assert await bench.outcome("git_add", path=".") == "ok"
    assert await bench.outcome("git_commit", message="x") == "ok"
    assert bench.asked == []


async def test_a_rule_does_not_cover_a_secret(repository: GitRepository) -> None:
    repository.put("a", "1\n")
    repository.put(".env", "KEY=1\n")
    bench = tools(repository, RULES)

    assert await bench.outcome("git_add", path=".") == "permission_denied"
    assert len(bench.asked) == 1
    repository.git("add", ".env")
    assert await bench.outcome("git_commit", message="x") == "permission_denied"


async def test_a_rule_does_not_cover_programs_of_the_repository(
    repository: GitRepository, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    repository.put("staged", "1\n")
    repository.git("add", "staged")
    repository.script(".git/hooks/pre-commit", canary)
    repository.git("config", "filter.x.clean", "./evil")
    repository.put("a", "1\n")
    bench = tools(repository, RULES)

    assert await bench.outcome("git_add", path="a") == "permission_denied"
    assert await bench.outcome("git_commit", message="x") == "permission_denied"
    assert len(bench.asked) == 2
    assert not canary.exists()


async def test_plan_mode_changes_nothing(repository: GitRepository) -> None:
    repository.put("a", "1\n")
    bench = tools(repository, RULES, Mode.PLAN)

    assert await bench.outcome("git_add", path="a") == "permission_denied"
    assert await bench.outcome("git_status") == "ok"
    assert bench.asked == []


async def test_a_secret_is_asked_for_even_to_look_at(repository: GitRepository) -> None:
    repository.commit(**{".env": "KEY=1\n"})
    repository.put(".env", "KEY=2\n")
    bench = tools(repository)

    assert await bench.outcome("git_diff", path=".env") == "permission_denied"
    assert (await bench.call("git_diff"))["content"] == ""


async def test_git_cmd_is_recorded_under_the_tool_that_ran(repository: GitRepository) -> None:
    bench = tools(repository)

    assert (await bench.call("git_cmd", command="status -s"))["content"] == "## No commits yet on main\n"
