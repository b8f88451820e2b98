"""Commands in the background as the person sees them: what runs, what it printed, and an end to it."""

from collections.abc import Callable
from dataclasses import replace

from coder_tui.protocol.errors import UserError
from coder_tui.shell.background import Job, JobState, JobTable
from coder_tui.text.redact import BY_SHAPE, Redactor
from coder_tui.text.terminal_text import plain_output


class JobDesk:
    """Looking here takes nothing away from what the model reads of a job."""

    def __init__(self, jobs: JobTable, redact: Redactor = BY_SHAPE) -> None:
        self._jobs = jobs
        self._redact = redact

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Called whenever one begins or ends; what is returned ends that."""
        return self._jobs.watch(listener)

    def states(self) -> tuple[JobState, ...]:
        return tuple(
            replace(state, command=self._redact.known(state.command)) for state in self._jobs.states()
        )

    def output(self, job_id: str) -> str:
        return self._redact.known(plain_output(self._get(job_id).output))

    async def stop(self, job_id: str) -> None:
        """Returns when nothing of it lives."""
        await self._get(job_id).kill()

    def _get(self, job_id: str) -> Job:
        job = self._jobs.get(job_id)
        if job is None:
            raise UserError(f"There is no {job_id}.")
        return job
