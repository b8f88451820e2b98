"""Background jobs: commands that run until they end, are killed, or the session closes."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coder_tui.shell.command import GRACE, HeadAndTail, Spool, both_streams
from coder_tui.shell.running import Launch, RunningCommand
from coder_tui.tasks import finish_despite_cancel

MOST_JOBS = 16


class TooManyJobsError(Exception):
    """Too many jobs run: each of them uses processes and memory."""


@dataclass(frozen=True, slots=True)
class JobOutput:
    """What a job printed since it was last read."""

    command: str
    is_running: bool
    exit_code: int | None
    stdout: str
    stderr: str
    truncated: bool
    saved: Path | None


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job. `seconds` is how long it has run, or ran until it ended."""

    id: str
    command: str
    is_running: bool
    exit_code: int | None
    seconds: float


class Job:
    """One background command. `held` is released when it has ended."""

    def __init__(
        self,
        id: str,
        command: str,
        limit: int,
        spool: Spool,
        held: ExitStack,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """`ended` is called once, after all of its processes have ended."""
        self.id = id
        self._on_end = ended
        self.command = command
        self._limit = limit
        self._unread = both_streams(limit)
        self._seen = HeadAndTail(limit)
        self._began = self._ended_at = time.monotonic()
        self._spool = spool
        self._held = held
        self._running = RunningCommand(self._collect)
        self._watch: asyncio.Task[None] | None = None

    async def start(self, launch: Launch, directory: Path) -> None:
        try:
            await self._running.start(launch, directory)
        except BaseException:
            self._release()
            raise
        self._watch = asyncio.ensure_future(self._wait_and_release())

    @property
    def is_running(self) -> bool:
        return self._watch is not None and not self._watch.done()

    @property
    def state(self) -> JobState:
        until = time.monotonic() if self.is_running else self._ended_at
        code = None if self.is_running else self._running.exit_code
        return JobState(self.id, self.command, self.is_running, code, until - self._began)

    @property
    def output(self) -> str:
        """The beginning and the end of its output, whether or not they were read."""
        return self._seen.text()

    def read_new_output(self) -> JobOutput:
        streams, self._unread = self._unread, both_streams(self._limit)
        self._spool.flush()
        stdout, stderr = streams["stdout"], streams["stderr"]
        return JobOutput(
            command=self.command,
            is_running=self.is_running,
            exit_code=None if self.is_running else self._running.exit_code,
            stdout=stdout.text(),
            stderr=stderr.text(),
            truncated=stdout.is_truncated or stderr.is_truncated,
            saved=self._spool.path,
        )

    async def kill(self) -> None:
        """Send TERM, then KILL. Returns when all of its processes have ended."""
        if self.is_running:
            await finish_despite_cancel(self._running.end(GRACE))
            await self.ended()

    async def ended(self) -> None:
        """Wait until all of its processes have ended."""
        if self._watch is not None:
            await asyncio.shield(self._watch)

    def _collect(self, name: str, data: bytes) -> None:
        self._unread[name].add(data)
        self._seen.add(data)
        self._spool.add(data)

    async def _wait_and_release(self) -> None:
        try:
            await self._running.wait(None)
            await self._running.end(GRACE)
        finally:
            self._ended_at = time.monotonic()
            self._release()
            # After the end of this task, because `is_running` depends on it.
            asyncio.get_running_loop().call_soon(self._on_end)

    def _release(self) -> None:
        self._running.close()
        self._spool.close()
        self._held.close()


class JobTable:
    """The jobs of one session, with short ids (`job_1`)."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._count = 0
        self._listeners: list[Callable[[], None]] = []

    def new(self, command: str, limit: int, spool: Spool, held: ExitStack) -> Job:
        """Create a job that is not started yet. Raises `TooManyJobsError` if too many run."""
        if sum(job.is_running for job in self._jobs.values()) >= MOST_JOBS:
            held.close()
            raise TooManyJobsError
        self._count += 1
        return Job(f"job_{self._count}", command, limit, spool, held, self._changed)

    def add(self, job: Job) -> None:
        self._jobs[job.id] = job
        self._changed()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` whenever a job starts or ends. Returns a function that stops this."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def states(self) -> tuple[JobState, ...]:
        """Return the states in the order in which the jobs started."""
        return tuple(job.state for job in self._jobs.values())

    @property
    def begun(self) -> int:
        """How many jobs were ever started."""
        return self._count

    def get(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def ids(self) -> tuple[str, ...]:
        return tuple(self._jobs)

    def running(self) -> Iterator[Job]:
        return (job for job in self._jobs.values() if job.is_running)

    async def close(self) -> None:
        """End all jobs at once."""
        await finish_despite_cancel(self._kill_all())

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    async def _kill_all(self) -> None:
        await asyncio.gather(*(job.kill() for job in tuple(self.running())))
