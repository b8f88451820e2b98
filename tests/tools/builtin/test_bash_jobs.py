"""Background jobs are read, ended, and gone with the session."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.cancel import processes_with
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.shell import jobs
from coder_tui.shell.sandbox.sandbox import SandboxKind
from coder_tui.shell.session_shell import ShellOptions
from coder_tui.tools.base import ToolContext
from coder_tui.tools.builtin.bash import ALONE, NOT_REACHED, BashParams, BashTool
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, UNCONFINED
from tests.tools.calling import Bench

KINDS = [
    status for status in (BUBBLEWRAP, LANDLOCK, UNCONFINED) if status.program or status is not BUBBLEWRAP
]


@pytest.fixture(params=KINDS, ids=lambda status: status.kind)
async def bench(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Bench(tmp_path / "ws", ShellOptions(output_limit_bytes=1_000), request.param)
    yield made
    await made.shell.close()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def until_there(bench: Bench, name: str) -> None:
    """A job creates the file after it has printed something."""
    await bench.call("bash", command=f"until [ -e {name} ]; do sleep 0.01; done")


async def until_ended(bench: Bench, job_id: str) -> None:
    job = bench.shell.jobs.get(job_id)
    assert job is not None
    await job.ended()


async def said_of(bench: Bench, command: str) -> tuple[object, tuple[str, ...]]:
    """Return what the model learns about a started job, and what the user saw before."""
    tool = BashTool(bench.shell)
    params = BashParams(command=command, background=True)
    context = ToolContext("", "", bench.root)
    access = await tool.access(params, context)
    result = await tool.run(params, replace(context, access=access))
    return result.for_model.get("note"), access.facts


async def test_a_server_that_nothing_can_reach_is_said_to_be_alone(bench: Bench) -> None:
    is_confined = bench.shell.sandbox.status.kind is not SandboxKind.NONE
    expected = (NOT_REACHED, ("it keeps running in the background", ALONE))

    said = await said_of(bench, "sleep 1000")

    assert said == (expected if is_confined else (None, ("it keeps running in the background",)))


async def test_a_server_with_the_network_is_not_alone(bench: Bench) -> None:
    bench.shell.options = replace(bench.shell.options, network=("make serve*",))

    assert await said_of(bench, "make serve") == (None, ("it keeps running in the background",))


async def test_a_job_keeps_running_and_is_read_piece_by_piece(bench: Bench) -> None:
    command = "echo one; touch up; until [ -e go ]; do sleep 0.01; done; echo two; echo err >&2; exit 3"

    started = await bench.call("bash", command=command, background=True)
    await until_there(bench, "up")
    first = await bench.call("bash_output", job_id="job_1")
    bench.put("go")
    await until_ended(bench, "job_1")
    second = await bench.call("bash_output", job_id="job_1")
    third = await bench.call("bash_output", job_id="job_1")

    assert {**started, "note": ""} == {"ok": True, "command": command, "job_id": "job_1", "note": ""}
    assert first == {"ok": True, "running": True, "stdout": "one\n", "stderr": ""}
    assert second == {"ok": True, "running": False, "exit_code": 3, "stdout": "two\n", "stderr": "err\n"}
    assert third == {"ok": True, "running": False, "exit_code": 3, "stdout": "", "stderr": ""}


async def test_a_killed_job_is_gone_with_what_it_started(bench: Bench) -> None:
    pause = f"1000.{uuid.uuid4().int}"  # unlike that of another run of the tests at the same time
    command = f"(env -i setsid sleep {pause} &); touch up; trap '' TERM; while :; do sleep {pause}; done"
    await bench.call("bash", command=command, background=True)
    await until_there(bench, "up")

    result = await bench.call("bash_kill", job_id="job_1")
    again = await bench.call("bash_kill", job_id="job_1")

    assert (result["ok"], result["running"], "exit_code" in result) == (True, False, True)
    assert (again["ok"], again["running"]) == (True, False)
    assert processes_with(pause) == []


async def test_closing_the_session_ends_its_jobs(bench: Bench) -> None:
    pause = f"1000.{uuid.uuid4().int}"
    for number in (1, 2, 3):
        await bench.call("bash", command=f"touch up{number}; exec sleep {pause}", background=True)
        await until_there(bench, f"up{number}")

    await bench.shell.close()

    assert processes_with(pause) == []
    if bench.sandbox.kind is SandboxKind.BUBBLEWRAP:
        assert names_in(bench.root) == ["up1", "up2", "up3"]


async def test_much_output_is_cut_and_kept_in_a_file(bench: Bench) -> None:
    await bench.call("bash", command="seq 1 2000", background=True)
    await until_ended(bench, "job_1")

    news = await bench.call("bash_output", job_id="job_1")

    assert (news["truncated"], len(news["stdout"]) <= 1_000) == (True, True)
    kept = await bench.call("bash", command=f"tail -n 1 {news['output_file']}")
    assert kept["stdout"] == "2000\n"


async def test_an_unknown_job_names_the_known_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    bench = Bench(tmp_path / "ws")
    for tool in ("bash_output", "bash_kill"):
        assert await bench.failure(tool, job_id="x") == (
            ErrorType.INVALID_TOOL_PARAMS,
            "invalid args: job_id: no job 'x'",
        )
    await bench.call("bash", command="true", background=True)

    with pytest.raises(ToolError) as raised:
        await bench.call("bash_output", job_id="x")
    assert raised.value.hint == "Known jobs: job_1."
    await bench.shell.close()


async def test_too_many_jobs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(jobs, "MOST_JOBS", 1)
    bench = Bench(tmp_path / "ws")
    await bench.call("bash", command="exec sleep 1000", background=True)

    kind, message = await bench.failure("bash", command="true", background=True)

    assert (kind, message) == (
        ErrorType.EXECUTION_FAILED,
        "Too many jobs are running in the background (job_1).",
    )
    await bench.shell.close()
