"""A custom command and a hook in a real terminal, with a model over real HTTP."""

import json
from pathlib import Path
from typing import Any

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

COMMAND = """---
description: Fixes what is broken
argument-hint: [what]
---
Fix $1, see @notes.txt. It is: !`echo state of $1`
"""
HOOKS = """
[[hooks.PreToolUse]]
matcher = "Bash"
hooks = [{command = "if grep -q deploy; then echo 'No deploys on Mondays.' >&2; exit 2; fi"}]
[[hooks.Stop]]
hooks = [{command = "cat > stopped.json; echo '{\\"systemMessage\\": \\"all quiet\\"}'"}]
[[hooks.SessionEnd]]
hooks = [{command = "cat > ended.json"}]
"""


@needs_tmux
def test_a_command_with_an_insert_is_asked_and_sent_and_a_hook_refuses_a_call(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    config = program.home / ".config/coder-tui"
    (config / "commands").mkdir(parents=True)
    (config / "commands/repair.md").write_text(COMMAND)
    (program.project / "notes.txt").write_text("the notes\n")
    script = [Reply(calls=(Call("bash", {"command": "make deploy"}),)), Reply(text="I leave it.")]
    with OpenAIServer(script) as server:
        model = f'[model]\nname = "openai/good"\napi_base = "{server.url}"\n'
        (config / "config.toml").write_text(model + HOOKS)
        with Tmux(PROGRAM, program.project, program.environment, 110, 36) as tmux:
            tmux.shows(r"ASK  (openai/)?good")
            tmux.type("/repair")
            tmux.shows(r"/repair \[what\].*Fixes what is broken.*your command")
            tmux.type(" 'the parser'")
            tmux.keys("Enter")
            tmux.shows(r"Run this command\?[\s\S]*echo state of 'the parser'")
            tmux.shows("ready")
            tmux.keys("C-y")
            tmux.shows("No deploys on Mondays")
            tmux.shows(r"I leave it[\s\S]*Stop hook: all quiet")
            tmux.keys("C-d")
            tmux.shows("exit code 0")
        requests: list[Any] = list(server.requests)
    received, refused = (request["messages"][-1]["content"] for request in requests)
    assert "Fix the parser, see @notes.txt. It is: state of the parser\n</command>" in received
    assert "the notes" in received
    assert json.loads(refused)["error"]["message"] == "a hook refused this call: No deploys on Mondays."
    ends = [json.loads((program.project / name).read_text()) for name in ("stopped.json", "ended.json")]
    assert [end["hook_event_name"] for end in ends] == ["Stop", "SessionEnd"]
