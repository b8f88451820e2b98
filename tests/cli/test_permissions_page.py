"""The page on permissions shows what the program really prints."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.fakes.program import Program

PAGE = (Path(__file__).parents[2] / "docs/permissions.md").read_text("utf-8")
SHOWN = re.findall(r"```console\n\$ coder-tui policy check (\w+) '(.*?)'\n(.*?)```", PAGE, re.DOTALL)
WRITTEN = "/home/you/shop"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    made = Program.in_folder(tmp_path_factory.mktemp("page"))
    (made.project / "src").mkdir()
    (made.project / "src/a.py").write_text("# TODO\n")
    (made.project / ".env").write_text("A=1\n")
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    settings = made.home / ".config/coder-tui/config.toml"
    settings.parent.mkdir(parents=True)
    (rules,) = re.findall(r"## Ten examples.*?```toml\n(.*?)```", PAGE, re.DOTALL)
    settings.write_text(rules)
    return made


def test_there_are_ten_examples_of_each_kind() -> None:
    effects = [text.split(":")[0] for _, _, text in SHOWN]

    assert len(effects) == 10
    assert set(effects) == {"ALLOW", "ASK", "DENY"}


@pytest.mark.parametrize(("tool", "arguments", "text"), SHOWN, ids=[shown[1] for shown in SHOWN])
def test_a_decision_is_as_shown(program: Program, tool: str, arguments: str, text: str) -> None:
    output = program.run("policy", "check", tool, arguments)

    assert output.stdout.replace(str(program.project), WRITTEN) == text
