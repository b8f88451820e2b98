"""What a rule keeps from being read is not shown by searching either."""

import subprocess
from pathlib import Path

import pytest

from coder_tui.bootstrap.prepare import load_setup
from coder_tui.config.paths import find_directories
from coder_tui.config.sources import find_sources
from coder_tui.protocol.access import Mode
from tests.fakes.real_tools import RealTools


def tools_with(tmp_path: Path, rules: str) -> RealTools:
    project = tmp_path / "project"
    for name in ("private/a.py", "src/b.py"):
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text("def old(): pass\n")
    git = ("git", "-C", str(project), "-c", "user.name=x", "-c", "user.email=x@example.org")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
        subprocess.run((*git, *command), check=True)
    for name in ("private/a.py", "src/b.py"):
        (project / name).write_text("def new(): pass\n")
    environ = {f"CODER_TUI_{name}_DIR": str(tmp_path / name.lower()) for name in ("DATA", "CONFIG", "CACHE")}
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text(rules)
    directories = find_directories(environ)
    sources = find_sources(directories, project, environ, {}, None)
    return RealTools(load_setup(project, directories, sources, environ, Mode.ASK))


@pytest.mark.parametrize("effect", ["deny", "ask"])
async def test_searches_pass_over_what_a_rule_keeps_from_being_read(tmp_path: Path, effect: str) -> None:
    tools = tools_with(tmp_path, f'[permission.read]\n"private/*" = "{effect}"\n')
    grepped = await tools.call("grep", pattern="new")
    assert [match["path"] for match in grepped["matches"]] == ["src/b.py"]
    assert (await tools.call("grep", pattern="new", path="private"))["matches"] == []
    assert "private" not in (await tools.call("outline"))["outline"]
    diff = await tools.call("git_diff")
    assert "src/b.py" in diff["content"]
    assert "private" not in diff["content"]
    assert "private/a.py" in diff["note"]
    assert await tools.outcome("grep", pattern="new", path="private/a.py") == "permission_denied"


async def test_a_rule_that_asks_for_every_file_hides_none_of_them(tmp_path: Path) -> None:
    tools = tools_with(tmp_path, '[permission]\nread = "ask"\n')
    assert "private/a.py" in (await tools.call("git_diff"))["content"]
