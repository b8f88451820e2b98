"""Background jobs as the user sees them, with real processes."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.agent.user_shell import BackgroundJobs
from coder_tui.protocol.errors import UserError
from coder_tui.shell.jobs import JobState
from coder_tui.shell.sandbox.confinement import Confinement
from coder_tui.shell.session_shell import SessionShell
from coder_tui.text.redact import BY_SHAPE, MASK, Redactor
from tests.fakes.shells import UNCONFINED, shell_for

SECRET = "s3cr3t-without-any-shape"


async def until(under_test: BackgroundJobs, condition: object) -> None:
    """Woken by the jobs themselves."""
    assert callable(condition)
    changed = asyncio.Event()
    deaf = under_test.watch(changed.set)
    async with asyncio.timeout(10):
        while not condition():
            await changed.wait()
            changed.clear()
    deaf()


def brief(state: JobState) -> tuple[str, str, bool, int | None]:
    return state.id, state.command, state.is_running, state.exit_code


async def started(shell: SessionShell, command: str) -> None:
    await shell.start(command, Confinement(), name=command[:8])


async def test_what_a_job_printed_can_be_read_by_both_without_taking_it_from_the_other(
    tmp_path: Path,
) -> None:
    shell = shell_for(tmp_path, UNCONFINED)
    under_test = BackgroundJobs(shell.jobs, Redactor({}, (SECRET,)))
    await started(shell, f"echo one {SECRET}; exit 3")
    await until(under_test, lambda: not under_test.states()[0].is_running)
    assert brief(under_test.states()[0]) == ("job_1", f"echo one {MASK}; exit 3", False, 3)
    assert under_test.output("job_1") == f"one {MASK}\n"
    job = shell.jobs.get("job_1")
    assert job is not None
    assert job.read_new_output().stdout == f"one {SECRET}\n"
    assert under_test.output("job_1") == f"one {MASK}\n"
    await shell.close()


async def test_a_stopped_job_tells_its_end(tmp_path: Path) -> None:
    shell = shell_for(tmp_path, UNCONFINED)
    under_test = BackgroundJobs(shell.jobs, BY_SHAPE)
    seen: list[bool] = []
    under_test.watch(lambda: seen.append(under_test.states()[0].is_running))
    await started(shell, "sleep 600")
    assert seen == [True]
    await under_test.stop("job_1")
    await until(under_test, lambda: seen[-1] is False)
    assert seen == [True, False]
    before = under_test.states()[0].seconds
    assert under_test.states()[0].seconds == before
    await shell.close()


async def test_a_job_that_is_not_there_is_said(tmp_path: Path) -> None:
    under_test = BackgroundJobs(shell_for(tmp_path, UNCONFINED).jobs, BY_SHAPE)
    with pytest.raises(UserError, match="There is no job_9"):
        under_test.output("job_9")
