"""Hooks around calls in the installed program: refused, changed, asked about, commented on, and trusted."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.program import Program, json_lines


class Hooked:
    """A program whose settings have hooks; each of them is a script in the project."""

    def __init__(self, folder: Path) -> None:
        self.program = Program.in_folder(folder)
        self.project = self.program.project
        self.config = self.program.home / ".config/coder-tui/config.toml"
        self.config.parent.mkdir(parents=True)
        self.settings = ""

    def hook(self, event: str, script: str, matcher: str, more: str = "") -> None:
        name = f"hook{self.settings.count('[[')}.sh"
        (self.project / name).write_text(script)
        command = f"""'sh "$CODER_TUI_PROJECT_DIR/{name}"'"""
        self.settings += (
            f'[[hooks.{event}]]\nmatcher = "{matcher}"\nhooks = [{{command = {command}{more}}}]\n'
        )

    def call(self, *calls: tuple[str, dict[str, Any]], mode: str = "ask") -> list[dict[str, Any]]:
        self.config.write_text(f'{self.settings}\n[permission.bash]\n"curl*" = "ask"\n"wget*" = "deny"\n')
        lines = "\n".join(json.dumps({"tool": tool, "args": arguments}) for tool, arguments in calls)
        done = self.program.run("tool", "call", "--stdin", "--permission", mode, stdin=lines)
        return json_lines(done.stdout)

    def read(self, name: str) -> Any:
        return json.loads((self.project / name).read_text())


@pytest.fixture
def hooked(tmp_path: Path) -> Hooked:
    return Hooked(tmp_path)


def decided(effect: str, **more: object) -> str:
    return json.dumps({"hookSpecificOutput": {"permissionDecision": effect, **more}})


def test_exit_code_2_refuses_with_its_message_and_sees_no_secrets(hooked: Hooked) -> None:
    hooked.hook("PreToolUse", "cat > event.json; env > env.txt; echo Use make. >&2; exit 2", "Bash|edit")

    refused, listed = hooked.call(("bash", {"command": "true"}), ("list", {}))

    error = refused["error"]
    assert (error["type"], error["message"]) == ("permission_denied", "a hook refused this call: Use make.")
    assert listed["ok"]
    assert hooked.read("event.json") == {
        "session_id": "tool-call",
        "cwd": str(hooked.project),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "bash",
        "tool_input": {"command": "true"},
        "agent": "build",
    }
    names = {line.partition("=")[0] for line in (hooked.project / "env.txt").read_text().splitlines()}
    assert "OPENAI_API_KEY" not in names
    assert {"CODER_TUI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"} <= names


def test_a_changed_call_must_match_schema_and_rules(hooked: Hooked) -> None:
    instead = {"one": {"command": "echo changed"}, "two": {"command": "wget x"}, "three": {"command": 3}}
    cases = "".join(
        f"*{word}*) echo '{decided('allow', updatedInput=arguments)}';;\n"
        for word, arguments in instead.items()
    )
    hooked.hook("PreToolUse", f'case "$(cat)" in\n{cases}esac', "bash")

    changed, denied, wrong = hooked.call(*(("bash", {"command": f"rm {word}"}) for word in instead))

    assert (changed["stdout"], changed["changed_by_hook"]) == ("changed\n", {"command": "echo changed"})
    assert denied["error"]["type"] == "permission_denied"
    assert wrong["error"]["type"] == "invalid_tool_params"


def test_an_allowing_hook_overrides_no_rule_or_protection_and_an_asking_one_asks(hooked: Hooked) -> None:
    hooked.hook("PreToolUse", f"cat >/dev/null; echo '{decided('allow')}'", "bash|write")
    asks = decided("ask", permissionDecisionReason="look twice")
    hooked.hook("PreToolUse", f"cat >/dev/null; echo '{asks}'", "list")

    results = hooked.call(
        ("bash", {"command": "curl x"}),
        ("bash", {"command": "wget x"}),
        ("write", {"path": str(hooked.program.home / "x"), "content": "x"}),
        ("write", {"path": ".coder-tui/config.toml", "content": "x"}),
        ("write", {"path": "a.txt", "content": "x"}),
        ("list", {}),
    )

    assert [result["ok"] for result in results] == [False, False, False, False, True, False]
    assert "look twice" in results[-1]["error"]["message"]


def test_a_message_after_a_call_reaches_the_model(hooked: Hooked) -> None:
    hooked.hook("PostToolUse", "cat > event.json; echo not formatted >&2; exit 2", "Write")
    more = json.dumps({"hookSpecificOutput": {"additionalContext": "a folder"}})
    hooked.hook("PostToolUse", f"echo '{more}'", "list")

    written, listed = hooked.call(("write", {"path": "a.txt", "content": "x"}), ("list", {}), mode="edits")

    assert (written["hook_says"], listed["hook_says"]) == ("not formatted", "a folder")
    assert hooked.read("event.json")["tool_response"]["operation"] == "create"


def test_a_projects_hooks_wait_for_trust_stay_confined_and_run_with_the_users_own(hooked: Hooked) -> None:
    project, outside = hooked.project, hooked.program.home / "outside"
    hooked.hook("PreToolUse", "echo own >> order.txt", "list")
    (project / ".coder-tui").mkdir()
    # What an approved command names is opened for it; nobody approved this one.
    ours = f"echo ours >> order.txt; touch {outside} || true"
    (project / ".coder-tui/config.toml").write_text(
        f'[[hooks.PreToolUse]]\nhooks = [{{command = "{ours}", sandbox = false}}]\n'
    )
    (project / ".claude/hooks").mkdir(parents=True)
    script = f"cat > claude.json; echo theirs >> order.txt; touch {outside}"
    (project / ".claude/hooks/go.sh").write_text(script)
    run = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/go.sh', "statusMessage": "x"}
    unknown = {"type": "prompt", "prompt": "x"}
    other = {"PreToolUse": [{"matcher": "LS", "hooks": [unknown, {**run, "timeout": 9999}]}], "Later": []}
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": other, "permissions": {}}))
    look = ("list", {"path": "."})

    def order() -> list[str]:
        return (project / "order.txt").read_text().splitlines()

    hooked.call(look)
    assert order() == ["own"]
    assert hooked.program.run("trust", "--yes").returncode == 0
    hooked.call(look)
    assert order() == ["own", "own", "ours", "theirs"]
    output = hooked.read("claude.json")
    assert (output["tool_name"], output["tool_input"]) == ("LS", {"path": ".", "file_path": str(project)})
    assert not outside.exists()
    (project / ".claude/hooks/go.sh").write_text(f"{script}; echo changed >> order.txt")
    hooked.call(look)
    assert order()[4:] == ["own"]


def test_a_projects_hook_refuses_and_asks_but_allows_nothing(hooked: Hooked) -> None:
    (hooked.project / ".coder-tui").mkdir()
    allows = f"cat >/dev/null; echo '{decided('allow')}'"
    (hooked.project / ".coder-tui/config.toml").write_text(
        f'[[hooks.PreToolUse]]\nmatcher = "write"\nhooks = [{{command = """{allows}"""}}]\n'
        '[[hooks.PreToolUse]]\nmatcher = "list"\nhooks = [{command = "exit 2"}]\n'
    )
    assert hooked.program.run("trust", "--yes").returncode == 0

    written, listed = hooked.call(("write", {"path": "a.txt", "content": "x"}), ("list", {}))

    assert "needs approval" in written["error"]["message"]
    assert "a hook refused" in listed["error"]["message"]


def test_a_failing_hook_blocks_calls_unless_it_is_configured_otherwise(hooked: Hooked) -> None:
    hooked.hook("PreToolUse", "echo no such module >&2; exit 1", "list")
    hooked.hook("PreToolUse", "kill -KILL $$", "glob", ', on_failure = "deny"')
    hooked.hook("PreToolUse", "sleep 60", "grep", ', timeout = 0.2, on_failure = "allow"')
    hooked.hook("PreToolUse", "exit 1", "bash", ', on_failure = "allow"')

    asked, denied, searched, unasked = hooked.call(
        ("list", {}), ("glob", {"pattern": "*"}), ("grep", {"pattern": "x"}), ("bash", {"command": "curl x"})
    )

    assert "nobody is there to give it (the hook `sh " in asked["error"]["message"]
    assert "has no word on this: it ended with exit code 1: no such module" in asked["error"]["message"]
    assert "a hook refused this call: the hook" in denied["error"]["message"]
    assert searched["ok"]
    # That a failure may be passed over is no word for the call.
    assert "needs approval" in unasked["error"]["message"]


def test_a_users_hook_is_never_run_from_the_current_folder(hooked: Hooked) -> None:
    (hooked.project / "check.sh").write_text("touch ran")
    hooked.config.write_text('[[hooks.PreToolUse]]\nhooks = [{command = "sh check.sh"}]\n')
    done = hooked.program.run("tool", "call", "list", "{}")
    assert (done.returncode, not (hooked.project / "ran").exists()) == (2, True)
    assert "config.toml:1: one of your hooks runs `check.sh`, which would be another" in done.stderr
