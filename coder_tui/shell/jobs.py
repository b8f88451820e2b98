"""Commands that go on beside the conversation, until they end, are killed, or the session closes."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coder_tui.shell.command import GRACE, HeadAndTail, Spool
from coder_tui.shell.running import Launch, RunningCommand, insist

MOST_JOBS = 16


class TooManyJobsError(Exception):
    """Each of them holds processes and memory."""


@dataclass(frozen=True, slots=True)
class News:
    """What a job printed since it was last looked at."""

    command: str
    is_running: bool
    exit_code: int | None
    stdout: str
    stderr: str
    truncated: bool
    saved: Path | None


@dataclass(frozen=True, slots=True)
class JobState:
    """How a job stands; `seconds` it ran so far, or until it ended."""

    id: str
    command: str
    is_running: bool
    exit_code: int | None
    seconds: float


class _Unread:
    """New output by stream, bounded; taking it begins anew."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._streams = self._empty()

    def add(self, name: str, data: bytes) -> None:
        self._streams[name].add(data)

    def take(self) -> dict[str, HeadAndTail]:
        taken, self._streams = self._streams, self._empty()
        return taken

    def _empty(self) -> dict[str, HeadAndTail]:
        return {"stdout": HeadAndTail(self._limit), "stderr": HeadAndTail(self._limit)}


class Job:
    """One command; `held` is released when it has ended."""

    def __init__(
        self,
        id: str,
        command: str,
        limit: int,
        spool: Spool,
        held: ExitStack,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """`ended` is called once, when nothing of it lives."""
        self.id = id
        self._tell_ended = ended
        self.command = command
        self._unread = _Unread(limit)
        self._seen = HeadAndTail(limit)
        self._began = self._ended_at = time.monotonic()
        self._spool = spool
        self._held = held
        self._running = RunningCommand(self._take)
        self._watch: asyncio.Task[None] | None = None

    async def start(self, launch: Launch, directory: Path) -> None:
        try:
            await self._running.start(launch, directory)
        except BaseException:
            self._release()
            raise
        self._watch = asyncio.ensure_future(self._to_its_end())

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
        """Its beginning and its end, whoever has read them already."""
        return self._seen.text()

    def news(self) -> News:
        streams = self._unread.take()
        self._spool.flush()
        stdout, stderr = streams["stdout"], streams["stderr"]
        return News(
            command=self.command,
            is_running=self.is_running,
            exit_code=None if self.is_running else self._running.exit_code,
            stdout=stdout.text(),
            stderr=stderr.text(),
            truncated=stdout.is_truncated or stderr.is_truncated,
            saved=self._spool.path,
        )

    async def kill(self) -> None:
        """TERM, and KILL after a while; returns when nothing of it lives."""
        if self.is_running:
            await insist(self._running.end(GRACE))
            await self.ended()

    async def ended(self) -> None:
        """Wait until nothing of it lives."""
        if self._watch is not None:
            await asyncio.shield(self._watch)

    def _take(self, name: str, data: bytes) -> None:
        self._unread.add(name, data)
        self._seen.add(data)
        self._spool.add(data)

    async def _to_its_end(self) -> None:
        try:
            await self._running.wait(None)
            await self._running.end(GRACE)
        finally:
            self._ended_at = time.monotonic()
            self._release()
            # Behind the end of this task, which is what tells that it does not run any more.
            asyncio.get_running_loop().call_soon(self._tell_ended)

    def _release(self) -> None:
        self._running.close()
        self._spool.close()
        self._held.close()


class JobTable:
    """The jobs of one session, by ids that are easy to say."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._count = 0
        self._listeners: list[Callable[[], None]] = []

    def new(self, command: str, limit: int, spool: Spool, held: ExitStack) -> Job:
        """A job that is not started yet; refused when too many run."""
        if sum(job.is_running for job in self._jobs.values()) >= MOST_JOBS:
            held.close()
            raise TooManyJobsError
        self._count += 1
        return Job(f"job_{self._count}", command, limit, spool, held, self._changed)

    def add(self, job: Job) -> None:
        self._jobs[job.id] = job
        self._changed()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Called whenever one begins or ends; what is returned ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def states(self) -> tuple[JobState, ...]:
        """In the order in which they began."""
        return tuple(job.state for job in self._jobs.values())

    @property
    def begun(self) -> int:
        """How many there ever were."""
        return self._count

    def get(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def ids(self) -> tuple[str, ...]:
        return tuple(self._jobs)

    def running(self) -> Iterator[Job]:
        return (job for job in self._jobs.values() if job.is_running)

    async def close(self) -> None:
        """End them all, together."""
        await insist(self._kill_all())

    def _changed(self) -> None:
        for listener in tuple(self._listeners):
            listener()

    async def _kill_all(self) -> None:
        await asyncio.gather(*(job.kill() for job in tuple(self.running())))
