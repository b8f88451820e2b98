"""`bash` runs one command and reports everything about it."""

import asyncio
from pathlib import Path

import pytest
from pydantic import ValidationError

from coder_tui.protocol.access import Mode, Target, TargetKind
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import ErrorType
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest
from coder_tui.shell.sandbox.sandbox import SandboxKind, SandboxStatus
from coder_tui.shell.session_shell import ShellOptions
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.bash import NO_NETWORK, NO_PLACE, BashParams
from tests.fakes.process_family import is_alive
from tests.fakes.real_tools import ALLOW, RealTools, setup_in
from tests.fakes.shells import BUBBLEWRAP
from tests.tools.calling import Bench


@pytest.fixture(autouse=True)
def quiet_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A login shell reads the user's profile; tests have none."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "ws")


async def test_the_result_has_everything(bench: Bench) -> None:
    result = await bench.result("bash", command="echo out; echo err >&2")

    duration = result.for_model.pop("duration_ms")
    assert result.for_model == {
        "ok": True,
        "command": "echo out; echo err >&2",
        "exit_code": 0,
        "stdout": "out\n",
        "stderr": "err\n",
        "truncated": False,
    }
    assert isinstance(duration, int)
    assert isinstance(result.for_user, TerminalBlock)
    assert sorted(result.for_user.output.split()) == ["err", "out"]
    assert (result.for_user.exit_code, result.for_user.directory) == (0, str(bench.root))


async def test_a_command_that_fails_is_a_failure_with_its_output(bench: Bench) -> None:
    result = await bench.result("bash", command="echo partly; exit 7")

    assert not result.is_ok
    assert (result.for_model["stdout"], result.for_model["exit_code"]) == ("partly\n", 7)
    assert result.for_model["error"] == {
        "type": "execution_failed",
        "message": "The command ended with exit code 7.",
    }


async def test_programs_are_found_as_in_the_terminal_that_it_was_started_from(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = bench.root / ".venv/bin"
    programs.mkdir(parents=True)
    (programs / "python3").write_text("#!/bin/sh\necho of the environment\n")
    (programs / "python3").chmod(0o755)
    (tmp_path / ".profile").write_text("PATH=/usr/bin:/bin:/of/the/login\nexport PATH\n")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")

    assert (await bench.call("bash", command="python3"))["stdout"] == "of the environment\n"
    found = await bench.call("bash", command='echo "$PATH"')
    assert found["stdout"] == f"{programs}:/usr/bin:/bin:/usr/bin:/bin:/of/the/login\n"


async def test_time_runs_out(bench: Bench) -> None:
    result = await bench.call("bash", command="sleep 60", timeout_ms=200)

    assert (result["ok"], result["exit_code"], result["error"]["type"]) == (False, 124, "timeout")


async def test_a_command_that_wanted_input_gets_a_hint(bench: Bench) -> None:
    result = await bench.call("bash", command="echo 'EOFError: EOF when reading a line' >&2; exit 1")

    assert result["error"]["hint"].startswith("It asked for input")


async def test_it_runs_in_the_workspace_without_our_secrets(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "k-123")
    monkeypatch.setenv("HARMLESS", "yes")

    result = await bench.call("bash", command='pwd -P; echo "$SOME_API_KEY|$HARMLESS"')

    assert result["stdout"] == f"{bench.workspace.root}\n|yes\n"


async def test_live_output_reaches_the_watcher(bench: Bench) -> None:
    seen: list[str] = []
    ctx = ToolContext("session", "call", bench.root, progress=seen.append)

    await bench.tools["bash"].run(BashParams(command="echo live"), ctx)

    assert "".join(seen) == "live\n"


async def test_output_is_cut_at_the_limit(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "ws", ShellOptions(output_limit_bytes=500))

    result = await bench.call("bash", command="seq 1 10000")

    assert (result["truncated"], len(result["stdout"]) <= 500) == (True, True)
    assert result["stdout"].startswith("1\n2\n")
    assert "\n[output truncated]\n" in result["stdout"]
    assert result["stdout"].endswith("\n10000\n")


async def test_the_declaration_is_the_whole_command(bench: Bench) -> None:
    command = "echo 1\necho 2"

    access = await bench.access("bash", command=command, description="count")

    assert access.targets == (Target(TargetKind.COMMAND, command, writes=True),)
    assert access.preview == TerminalBlock(command, "", None, str(bench.root))
    assert access.facts == ('the model says: "count"',)
    assert bench.tools["bash"].summary(BashParams(command=command)) == "echo 1 …"


@pytest.mark.parametrize("command", ["", "  \n", "echo \0"])
def test_an_empty_or_broken_command_is_invalid(command: str) -> None:
    with pytest.raises(ValidationError):
        BashParams(command=command)


async def test_half_a_character_is_refused(bench: Bench) -> None:
    assert (await bench.failure("bash", command="echo \udcff"))[0] is ErrorType.INVALID_TOOL_PARAMS


async def test_a_command_too_long_for_the_system_is_said(bench: Bench) -> None:
    assert (await bench.failure("bash", command="true " + "x" * 3_000_000))[0] is ErrorType.TOO_LARGE


async def test_a_missing_shell_is_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "ws", ShellOptions(shell="/nonexistent/sh"))

    assert (await bench.failure("bash", command="true"))[0] is ErrorType.NOT_INSTALLED


async def test_a_workspace_that_is_gone_is_said(bench: Bench) -> None:
    bench.root.rmdir()

    kind, message = await bench.failure("bash", command="true")

    assert (kind, message) == (ErrorType.EXECUTION_FAILED, f"The folder {bench.workspace.root} is gone.")


async def test_cancelling_ends_the_command(bench: Bench) -> None:
    started = asyncio.Event()
    ctx = ToolContext("session", "call", bench.root, progress=lambda text: started.set())
    tool = bench.tools["bash"]
    command = "echo $$ > pid; echo go; exec sleep 100"
    task = asyncio.ensure_future(tool.run(BashParams(command=command), ctx))
    await started.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert not is_alive(int((bench.root / "pid").read_text()))


async def test_the_declaration_says_what_was_found_and_how_it_is_confined(bench: Bench) -> None:
    access = await bench.access("bash", command="curl https://example.org > page; cat a")

    assert access.command is not None
    assert {str(finding.kind) for finding in access.command.findings} == {"network", "writes", "reads"}
    assert access.targets[0] == Target(
        TargetKind.COMMAND, "curl https://example.org > page; cat a", writes=True
    )
    assert Target(TargetKind.PATH, str(bench.workspace.root / "page"), writes=True) in access.targets
    assert access.sandbox == "none: a test wants it so"


async def test_colours_and_progress_bars_end_as_they_were_left(bench: Bench) -> None:
    result = await bench.result(
        "bash", command=r"printf '\033[31mred\033[0m\n10%%\r99%%\n\033]52;c;eA==\007'"
    )

    assert result.for_model["stdout"].startswith("red\n99%\n")
    assert "\x1b" not in result.for_model["stdout"]
    assert isinstance(result.for_user, TerminalBlock)
    assert "\x1b" not in result.for_user.output


async def test_what_was_cut_is_whole_in_a_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "ws", ShellOptions(output_limit_bytes=500))

    result = await bench.call("bash", command="seq 1 10000; echo end >&2")
    small = await bench.call("bash", command="seq 1 10")

    kept = await bench.call("bash", command=f"wc -l < {result['output_file']}")
    assert (kept["stdout"].strip(), "output_file" in small) == ("10001", False)
    assert "grep and read" in result["note"]


async def test_named_variables_are_passed_though_they_look_like_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_TOKEN", "t")
    monkeypatch.setenv("OTHER_TOKEN", "t")
    bench = Bench(tmp_path / "ws", ShellOptions(pass_environment=("CI_TOKEN",)))

    assert (await bench.call("bash", command='echo "$CI_TOKEN|$OTHER_TOKEN"'))["stdout"] == "t|\n"


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    ("command", "hint"),
    [
        ("python3 -c \"import socket; socket.getaddrinfo('example.org', 80)\"", NO_NETWORK),
        ("python3 -c \"open('/etc/coder-tui-probe', 'w')\"", NO_PLACE),
        ("sh -c 'exit 4'", None),
    ],
)
async def test_a_failure_for_which_the_sandbox_is_to_blame_says_so(
    tmp_path: Path, command: str, hint: str | None
) -> None:
    bench = Bench(tmp_path / "ws", sandbox=BUBBLEWRAP)

    result = await bench.call("bash", command=command)

    assert result["error"].get("hint") == hint
    await bench.shell.close()


async def test_a_sandbox_that_cannot_be_set_up_runs_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: Creating new namespace failed' >&2\nexit 1\n")
    broken.chmod(0o755)
    bench = Bench(tmp_path / "ws", sandbox=SandboxStatus(SandboxKind.BUBBLEWRAP, program=str(broken)))

    kind, message = await bench.failure("bash", command="touch ran")

    assert (kind, (bench.root / "ran").exists()) == (ErrorType.EXECUTION_FAILED, False)
    assert message.endswith("nothing was run: bwrap: Creating new namespace failed")
    await bench.shell.close()


async def test_a_link_that_came_up_since_the_approval_is_not_followed(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / "notes.txt").write_text("old")
    (outside / "victim").write_text("whole")

    def swap(request: ApprovalRequest) -> ApprovalReply:
        (project / "notes.txt").unlink()
        (project / "notes.txt").symlink_to(outside / "victim")
        return ALLOW

    tools = RealTools(setup_in(tmp_path / "home", project, Mode.ASK), swap)

    assert await tools.outcome("bash", command="echo x > notes.txt") == "stale_file"
    assert len(tools.asked) == 1
    assert (outside / "victim").read_text() == "whole"
