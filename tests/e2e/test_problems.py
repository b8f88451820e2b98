"""A real language server and real edits in a terminal: what it reports before, with and after them."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

# Both find the same fault, which is one problem all the same.
PYLSP_AND_RUFF = '{"*": {"enabled": false}, "pylsp": {"enabled": true}, "ruff": {"enabled": true}}'
ABSENT = '{"*": {"enabled": false}, "pylsp": {"enabled": true, "command": ["no-such-server"]}}'
CODE = "def total(first, second):\n    return first + second\n"
pytestmark = [
    needs_tmux,
    pytest.mark.skipif(
        shutil.which("pylsp", path=str(Path(sys.executable).parent)) is None,
        reason="needs pylsp: pip install 'python-lsp-server[all]'",
    ),
]


def edit(old: str, new: str) -> Reply:
    return Reply(calls=(Call("edit", {"path": "total.py", "old_string": old, "new_string": new}),))


BREAK = edit("first + second", "first + secnod")
FIX = edit("secnod", "second")


def started(program: Program, server: OpenAIServer, lsp: str, columns: int = 120, rows: int = 34) -> Tmux:
    (program.project / "total.py").write_text(CODE)
    environment = program.environment | {"CODER_TUI_LSP": lsp}
    return Tmux(
        f"{PROGRAM} --model openai/x --api-base {server.url}", program.project, environment, columns, rows
    )


def results(server: OpenAIServer) -> list[dict[str, object]]:
    """What the model learned about its calls."""
    messages = server.requests[-1]["messages"]
    assert isinstance(messages, list)
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program.in_folder(tmp_path)


def test_an_undefined_name_shows_before_the_answer_in_the_result_and_in_the_pane(program: Program) -> None:
    with (
        OpenAIServer([BREAK, Reply(text="Broken."), FIX, Reply(text="Fixed.")]) as server,
        started(program, server, PYLSP_AND_RUFF) as tmux,
    ):
        tmux.shows(r"ASK  (openai/)?x")
        tmux.type("break it")
        tmux.keys("Enter")
        tmux.shows(r"\+1 error: 2:20 undefined name 'secnod'[\s\S]*ready")
        assert (program.project / "total.py").read_text() == CODE
        tmux.keys("C-y")
        screen = tmux.shows(r"Broken\.")
        assert re.search(r"total\.py \+1 -1 +\+1 error", screen)
        tmux.shows("problems 1")
        tmux.keys("F5")
        screen = tmux.shows(r"2:20 NEW undefined na[\s\S]*\(pyflakes,\s+Ruff\)")
        assert screen.count("NEW") == 1
        tmux.keys("Escape")
        tmux.type("fix it")
        tmux.keys("Enter")
        tmux.shows(r"· -1 error[\s\S]*ready")
        tmux.keys("C-y")
        screen = tmux.shows(r"Fixed\.")
        assert re.search(r"total\.py \+1 -1 +-1 error", screen)
        tmux.keys("F5")
        assert "problems 1" not in tmux.shows(r"No problems are known\.")
        broken, fixed = (result["diagnostics"] for result in results(server))
    assert isinstance(broken, dict)
    assert isinstance(fixed, dict)
    assert broken["introduced"] == [
        {
            "path": "total.py",
            "severity": "error",
            "line": 1,
            "character": 19,
            "message": "undefined name 'secnod'",
            "code": "F821",
            "source": "pyflakes, Ruff",
        }
    ]
    assert (fixed["introduced_count"], fixed["fixed_count"], fixed["server_status"]) == (0, 1, "fresh")


def test_without_a_server_the_dialog_shows_that_nothing_was_checked(program: Program) -> None:
    with (
        OpenAIServer([BREAK, Reply(text="Broken.")]) as server,
        started(program, server, ABSENT, 80, 24) as tmux,
    ):
        tmux.shows(r"ASK  (openai/)?x")
        tmux.type("break it")
        tmux.keys("Enter")
        tmux.shows(r"not checked: no language server[\s\S]*ready")
        tmux.keys("C-y")
        tmux.shows(r"Broken\.")
        tmux.keys("F5")
        tmux.shows(r"No file was checked yet\.")
        (result,) = results(server)
    diagnostics = result["diagnostics"]
    assert isinstance(diagnostics, dict)
    assert diagnostics["server_status"] == "not_installed"
