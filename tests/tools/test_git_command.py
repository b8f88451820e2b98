"""`git_cmd` becomes the tool that does the same, otherwise a shell command."""

import json

import pytest

from coder_tui.tools.arguments import canonical_call


@pytest.mark.parametrize(
    ("arguments", "tool", "fields"),
    [
        ({"command": "status"}, "git_status", {"short": False}),
        ({"cmd": "git status -s"}, "git_status", {"short": True}),
        ({"args": ["diff", "--cached"]}, "git_diff", {"staged": True}),
        ({"subcommand": "diff", "args": ["--", "a b"]}, "git_diff", {"staged": False, "path": "a b"}),
        ({"command": "log --oneline -n 5"}, "git_log", {"oneline": True, "limit": 5}),
        ({"command": "log -3"}, "git_log", {"limit": 3}),
        ({"command": "log --max-count=7"}, "git_log", {"limit": 7}),
        ({"command": "add -A"}, "git_add", {"path": "."}),
        ({"command": "add src/a.py"}, "git_add", {"path": "src/a.py"}),
        ({"command": "commit -m 'Fix it'"}, "git_commit", {"message": "Fix it"}),
        ({"command": "commit --amend -m x"}, "bash", {"command": "git commit --amend -m x"}),
        ({"command": "add -f x"}, "bash", {"command": "git add -f x"}),
        ({"command": "diff HEAD~1"}, "bash", {"command": "git diff 'HEAD~1'"}),
        ({"command": "diff --output=x"}, "bash", {"command": "git diff --output=x"}),
        ({"command": "log --all"}, "bash", {"command": "git log --all"}),
        ({"command": "status; touch x"}, "bash", {"command": "git 'status;' touch x"}),
        ({"command": "log $(touch x)"}, "bash", {"command": "git log '$(touch' 'x)'"}),
        ({"command": "-c core.pager=x log"}, "bash", {"command": "git -c core.pager=x log"}),
        ({}, "bash", {}),
    ],
)
def test_a_git_command_finds_its_tool(
    arguments: dict[str, object], tool: str, fields: dict[str, object]
) -> None:
    name, text = canonical_call("git_cmd", json.dumps(arguments))

    assert (name, json.loads(text)) == (tool, fields)


def test_every_other_call_is_left_alone() -> None:
    assert canonical_call("bash", "not even JSON") == ("bash", "not even JSON")
