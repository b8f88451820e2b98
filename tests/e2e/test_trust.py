"""A hostile project is opened in every possible way: nothing of it runs, and each item is named."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.hostile_project import PROGRAMS, HostileProject
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import PROGRAM, Program, json_lines
from tests.fakes.script import Call, Reply
from tests.fakes.tmux import Tmux, needs_tmux

CONFIG = ".coder-tui/config.toml"


@dataclass(frozen=True, slots=True)
class Scene:
    program: Program
    hostile: HostileProject
    good: OpenAIServer
    evil: OpenAIServer

    @property
    def path(self) -> str:
        """A search path that a careless user has: the folder itself comes first."""
        return f".:{self.hostile.root}:{self.program.environment['PATH']}"


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    program = Program.in_folder(tmp_path)
    with OpenAIServer([]) as good, OpenAIServer([Reply(text="evil")]) as evil:
        hostile = HostileProject(program.project, program.home, tmp_path / "canary", evil.url)
        settings = program.home / ".config/coder-tui/config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[model]\nname = "openai/good"\napi_base = "{good.url}"\n')
        yield Scene(program, hostile, good, evil)


CALLS: tuple[tuple[str, dict[str, object]], ...] = (
    ("git_status", {}),
    ("git_diff", {}),
    ("git_log", {}),
    ("grep", {"pattern": "two"}),
    ("glob", {"pattern": "*.txt"}),
    ("list", {}),
)


def test_the_traps_are_real(scene: Scene) -> None:
    subprocess.run(
        ["git", "diff"],
        cwd=scene.hostile.root,
        env=scene.program.environment,
        capture_output=True,
        check=False,
    )

    assert scene.hostile.ran() != []


def test_tools_that_only_look_run_nothing_of_it(scene: Scene) -> None:
    lines = "".join(json.dumps({"tool": tool, "args": arguments}) + "\n" for tool, arguments in CALLS)

    done = scene.program.run("tool", "call", "--stdin", stdin=lines, PATH=scene.path)

    assert [result["ok"] for result in json_lines(done.stdout)] == [True] * len(CALLS), done.stdout
    assert scene.hostile.ran() == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("policy", "check", "git_commit", '{"message": "x"}'),
        ("policy", "check", "bash", '{"command": "true"}'),
        ("config", "show"),
        ("doctor",),
        ("tool", "list"),
        ("tool", "call", "discovered_tool_x", "{}"),
        ("trust", "--list"),
    ],
)
def test_commands_that_only_look_run_nothing_of_it(scene: Scene, arguments: tuple[str, ...]) -> None:
    done = scene.program.run(*arguments, PATH=scene.path)

    assert "Traceback" not in done.stderr
    assert scene.hostile.ran() == []
    assert scene.evil.requests == []


def test_a_run_uses_the_users_model_and_the_users_rules(scene: Scene) -> None:
    edit = Call("edit", {"path": "a.txt", "old_string": "two", "new_string": "three"})
    looks = (Call("git_status", {}), Call("git_diff", {}), Call("grep", {"pattern": "two"}))
    scene.good.add(
        Reply(calls=looks),
        Reply(calls=(Call("bash", {"command": str(scene.hostile.root / "evil.sh")}),)),
        Reply(calls=(edit,)),
        Reply(text="Done."),
    )

    done = scene.program.run("run", "-p", "/look go", "--format", "stream-json")

    events = json_lines(done.stdout)
    finished = [(event["tool"], event["outcome"]) for event in events if event["type"] == "tool_finished"]
    assert sorted(finished[:3]) == [(tool, "ok") for tool in ("git_diff", "git_status", "grep")], done.stderr
    assert finished[3:] == [("bash", "denied"), ("edit", "denied")]
    assert (scene.hostile.ran(), scene.evil.requests) == ([], [])
    assert f"found {CONFIG}, not used: this folder is not trusted" in done.stderr


def test_each_item_is_listed(scene: Scene) -> None:
    done = scene.program.run("trust", "--list", "--json")

    listed = json.loads(done.stdout)
    items = [(item["kind"], item["file"]) for item in listed["items"]]
    assert listed["trusted"] is False
    assert {kind for kind, file in items if file == CONFIG} == {
        *("allow rule", "stricter rule", "model", "address", "never used", "command", "sandbox", "folder"),
        *("hook", "mcp server", "language server", "environment"),
    }
    assert [kind for kind, file in items if file == ".mcp.json"] == ["mcp server"]
    git = " ".join(item["sentence"] for item in listed["items"] if item["file"] == ".git/config")
    for key in ("fsmonitor", "sshCommand", "filter.x.clean", "filter.x.process", "x.textconv", "hooksPath"):
        assert key.lower() in git.lower()
    assert {
        *(".git/hooks/pre-commit", "AGENTS.md", ".envrc", "package.json", ".coder-tui/hooks/start.sh"),
        *(".coder-tui/skills/evil/SKILL.md", *PROGRAMS),
        *(".claude/settings.json", ".claude/hooks/start.sh", ".coder-tui/tools/evil.py"),
        *(".claude/commands/look.md", ".gemini/commands/look.toml", ".opencode/command/look.md"),
    } <= {file for _, file in items}
    assert scene.hostile.ran() == []


def test_a_stricter_rule_applies_before_trust_and_an_allowing_one_only_after(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    (program.project / ".coder-tui").mkdir()
    file = program.project / CONFIG
    file.write_text('[permission]\nread = "deny"\nmkdir = "allow"\n')
    (program.project / "a.txt").write_text("one\n")

    def effect(tool: str) -> str:
        path = "a.txt" if tool == "read" else "new"
        done = program.run("policy", "check", tool, json.dumps({"path": path}), "--json")
        return str(json.loads(done.stdout)["effect"])

    assert (effect("read"), effect("mkdir")) == ("deny", "ask")
    assert program.run("trust").returncode == 2
    assert program.run("trust", "--yes").returncode == 0
    assert (effect("read"), effect("mkdir")) == ("deny", "allow")
    file.write_text(file.read_text() + "# changed\n")
    assert (effect("read"), effect("mkdir")) == ("deny", "ask")
    assert "changed since you trusted it" in program.run("trust", "--list").stdout
    assert program.run("trust", "--yes").returncode == 0
    assert effect("mkdir") == "allow"
    assert program.run("trust", "--revoke").returncode == 0
    assert effect("mkdir") == "ask"


@needs_tmux
def test_trust_asks_on_a_terminal_and_no_is_the_default(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    (program.project / ".coder-tui").mkdir()
    (program.project / CONFIG).write_text('[permission]\nedit = "allow"\n')

    for answer, code, state in (("Enter", 1, False), ("y", 0, True)):
        with Tmux(f"{PROGRAM} trust", program.project, program.environment) as tmux:
            tmux.shows(r"runs without asking: edit[\s\S]*Trust this project[\s\S]*\[y/N\]")
            tmux.keys(*dict.fromkeys((answer, "Enter")))
            tmux.shows(f"exit code {code}")
        assert json.loads(program.run("trust", "--list", "--json").stdout)["trusted"] is state


@needs_tmux
def test_the_screen_runs_nothing_of_it(scene: Scene) -> None:
    scene.good.add(Reply(calls=(Call("git_status", {}),)), Reply(text="All quiet."))
    environment = {**scene.program.environment, "PATH": scene.path}
    with Tmux(PROGRAM, scene.program.project, environment, 120, 40) as tmux:
        tmux.shows("allow rule")
        tmux.shows("ready")
        tmux.keys("Escape")
        tmux.shows(r"ASK  (openai/)?good")
        tmux.type("look")
        tmux.keys("Enter")
        tmux.shows("All quiet")
        tmux.keys("C-d")
        tmux.shows("exit code 0")
    assert (scene.hostile.ran(), scene.evil.requests) == ([], [])


def test_missing_git_is_reported_in_one_sentence(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)

    done = program.run("run", "-p", "hello", "--model", "demo", PATH="/nonexistent")

    assert done.stderr.count("git is not installed") == 1


def test_mistakes_are_reported_before_they_can_stop_the_program(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    (program.project / ".coder-tui").mkdir()
    (program.project / CONFIG).write_text('[model]\napi_key = "k"\n[ui]\nthem = "x"\n')

    listed = program.run("trust", "--list").stdout

    assert 'config.toml:4: unknown key "ui.them"; did you mean "ui.theme"?' in listed
    assert listed.count("unknown key") == 1
    assert program.run("policy", "check", "list", "{}").returncode == 0
    program.run("trust", "--yes")
    assert program.run("policy", "check", "list", "{}").returncode == 2
    program.run("trust", "--revoke")
    assert program.run("policy", "check", "list", "{}").returncode == 0


def test_a_line_break_in_a_name_does_not_look_like_another_item(tmp_path: Path) -> None:
    made = Program.in_folder(tmp_path)
    (made.project / ".coder-tui").mkdir()
    text = '[mcp."x\\nWorth knowing"]\ncommand = "evil\\n  stricter rule"\n'
    (made.project / ".coder-tui/config.toml").write_text(text)
    listed = made.run("trust", "--list").stdout
    assert [line for line in listed.splitlines() if line.startswith(("Worth", "  stricter"))] == []
    assert "x␤Worth knowing" in listed
