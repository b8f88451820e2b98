"""The shell of one session: runs commands confined, in the foreground or in the background.

A program may also read its standard input and answer, with bounded output and a time limit.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from coder_tui.policy.command import ShellCommand
from coder_tui.policy.shell.analysis import analyze_command
from coder_tui.shell.command import (
    GRACE,
    TIMED_OUT,
    Completed,
    HeadAndTail,
    OutputCollector,
    Spool,
    run_launch,
    shell_argv,
)
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.jobs import Job, JobTable
from coder_tui.shell.running import Launch, RunningCommand
from coder_tui.shell.sandbox.confinement import Confinement, confinement_for
from coder_tui.shell.sandbox.sandbox import Sandbox
from coder_tui.tasks import finish_despite_cancel

_GRACE_CANCEL = 0.25
_SIGNALLED = 128


@dataclass(frozen=True, slots=True)
class Answer:
    """How a program ended. `is_cut`: it printed more than the limit; `was_stopped`: it was ended for that."""

    exit_code: int
    stdout: str
    stderr: str
    is_cut: bool = False
    timed_out: bool = False
    was_stopped: bool = False

    @property
    def signal(self) -> str:
        """The name of the signal that ended it, if the exit code shows one, else an empty string."""
        try:
            return signal.Signals(self.exit_code - _SIGNALLED).name if self.exit_code > _SIGNALLED else ""
        except ValueError:
            return ""

    @property
    def ending(self) -> str:
        """How it ended, as the end of a sentence."""
        if self.was_stopped:
            return "printed too much and was stopped"
        if self.timed_out:
            return "took too long and was stopped"
        return f"was ended by {self.signal}" if self.signal else f"ended with exit code {self.exit_code}"


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """How long a program may run and how many bytes it may print.

    A program that prints more is stopped. Unless `stops_flood`, it runs on and the middle is left out.
    """

    seconds: float
    size: int
    stops_flood: bool = True


class _AnswerCollector:
    """Collects both streams up to a limit. `is_full` is set once a program is to be stopped."""

    def __init__(self, limits: AnswerLimits, on_output: Callable[[str], None]) -> None:
        self._limits = limits
        self._buffers = {"stdout": HeadAndTail(limits.size), "stderr": HeadAndTail(limits.size)}
        self._on_output = on_output
        self._size = 0
        self.is_full = asyncio.Event()

    def add(self, name: str, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limits.size and self._limits.stops_flood:
            self.is_full.set()
        self._buffers[name].add(data)
        if name == "stderr":
            self._on_output(data.decode("utf-8", "replace"))

    def answer(self, exit_code: int, *, timed_out: bool) -> Answer:
        stdout, stderr = self._buffers["stdout"].text(), self._buffers["stderr"].text()
        was_stopped = self.is_full.is_set()
        is_cut = self._size > self._limits.size
        return Answer(exit_code, stdout, stderr, is_cut, timed_out and not was_stopped, was_stopped)


def ignore_output(text: str) -> None:
    """Drop live output that nobody watches."""


async def run_with_input(
    launch: Launch,
    text: str,
    directory: Path,
    limits: AnswerLimits,
    on_output: Callable[[str], None] = ignore_output,
) -> Answer:
    """Run a command that reads `text`, to its end. `on_output` gets its error output live.

    Raises OSError if it cannot start. If cancelled, ends all of its processes first.
    """
    with tempfile.TemporaryFile() as file:
        await asyncio.to_thread(_fill, file, text)
        return await _run(
            launch, file.fileno(), _AnswerCollector(limits, on_output), directory, limits.seconds
        )


def _fill(file: IO[bytes], text: str) -> None:
    file.write(text.encode("utf-8", "replace"))
    file.flush()
    file.seek(0)


async def _run(
    launch: Launch, stdin: int, collector: _AnswerCollector, directory: Path, seconds: float
) -> Answer:
    command = RunningCommand(collector.add, stdin)
    await command.start(launch, directory)
    try:
        has_ended = await _has_ended(command, collector.is_full, seconds)
        await command.end(GRACE if has_ended else _GRACE_CANCEL)
    except asyncio.CancelledError:
        await finish_despite_cancel(command.end(_GRACE_CANCEL))
        raise
    finally:
        command.close()
    code = command.exit_code
    timed_out = not has_ended and not collector.is_full.is_set()
    return collector.answer(TIMED_OUT if timed_out or code is None else code, timed_out=timed_out)


async def _has_ended(command: RunningCommand, is_full: asyncio.Event, seconds: float) -> bool:
    """Return whether the command ended before it reached a limit."""
    waiting = {asyncio.ensure_future(command.wait(seconds)), asyncio.ensure_future(is_full.wait())}
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return command.exit_code is not None and not is_full.is_set()


NO_VARIABLES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class ShellOptions:
    """The section `bash` of the settings."""

    shell: str = "/bin/sh"
    timeout_ms: int = 120_000
    output_limit_bytes: int = 30_000
    pass_environment: tuple[str, ...] = ()
    network: tuple[str, ...] = ()


class SessionShell:
    """Runs the commands of a session.

    `outputs` is the folder for output that was too long, after `redact`.
    """

    def __init__(
        self,
        root: Path,
        options: ShellOptions,
        sandbox: Sandbox,
        outputs: Path,
        redact: Callable[[str], str],
    ) -> None:
        self.root = root
        self.options = options
        self.sandbox = sandbox
        self.jobs = JobTable()
        self._outputs = outputs
        self._redact = redact

    def confinement(self, command: ShellCommand | None) -> Confinement:
        """Return the confinement for an approved command. Blocks."""
        return confinement_for(command, self.sandbox.roots, self.sandbox.home, self.options.network)

    def analyze(self, command: str) -> ShellCommand:
        """Analyze what a command would do. Blocks: it looks at the files that the command names."""
        roots = tuple(map(str, self.sandbox.roots))
        return analyze_command(command, str(self.root), home=str(self.sandbox.home), roots=roots)

    def confinement_of(self, command: str) -> Confinement:
        """Return the confinement for a command from the user's settings. Blocks."""
        return self.confinement(self.analyze(command))

    async def run(
        self,
        command: str,
        confinement: Confinement,
        *,
        name: str,
        time_limit: float,
        on_output: Callable[[str], None],
    ) -> Completed:
        """Run a command to its end. `name` is unique for this call. Raises OSError if it cannot start."""
        collector = OutputCollector(self.options.output_limit_bytes, on_output, self._spool(name))
        async with self._launched(command, confinement) as (launch, _):
            return await run_launch(launch, collector, directory=self.root, time_limit=time_limit)

    async def start(self, command: str, confinement: Confinement, *, name: str) -> Job:
        """Start a command in the background."""
        async with self._launched(command, confinement) as (launch, held):
            limit = self.options.output_limit_bytes
            job = self.jobs.new(command, limit, self._spool(name), held.pop_all())
            await job.start(launch, self.root)
            self.jobs.add(job)
            return job

    async def run_with_input(
        self,
        command: str,
        text: str,
        confinement: Confinement | None,
        limits: AnswerLimits,
        *,
        variables: Mapping[str, str] = NO_VARIABLES,
        on_output: Callable[[str], None] = ignore_output,
    ) -> Answer:
        """Run a command that reads `text`. Without a confinement it runs unconfined, as the user wants it.

        Raises OSError if it cannot start, `ToolError` if it must be confined and cannot be.
        """
        async with self._launched(command, confinement, variables) as (launch, _):
            return await run_with_input(launch, text, self.root, limits, on_output)

    async def close(self) -> None:
        """End the background jobs and remove the session's temporary files."""
        await self.jobs.close()
        await asyncio.to_thread(self.sandbox.close)

    @contextlib.asynccontextmanager
    async def _launched(
        self, command: str, confinement: Confinement | None, variables: Mapping[str, str] = NO_VARIABLES
    ) -> AsyncIterator[tuple[Launch, ExitStack]]:
        """Prepare a command in a thread. A caller that takes over the stack must close it."""
        with ExitStack() as held:
            # A thread continues when its call is cancelled, and what it makes must be released.
            launch = await finish_despite_cancel(
                asyncio.to_thread(self._prepare, held, command, confinement, variables)
            )
            yield launch, held

    def _prepare(
        self, held: ExitStack, command: str, confinement: Confinement | None, variables: Mapping[str, str]
    ) -> Launch:
        environment = {**clean_environment(os.environ, self.options.pass_environment), **variables}
        argv = self._argv(command, environment.get("PATH", ""))
        if confinement is None:
            return Launch(argv, environment)
        return held.enter_context(self.sandbox.launch(argv, environment, confinement))

    def _argv(self, command: str, path: str) -> tuple[str, ...]:
        # Inside a sandbox, a missing shell would look like a failed command.
        if shutil.which(self.options.shell) is None:
            raise FileNotFoundError(2, "No such file or directory", self.options.shell)
        return shell_argv(self.options.shell, command, path)

    def _spool(self, name: str) -> Spool:
        safe = "".join(char if char.isalnum() or char in "-_" else "_" for char in name)[:120]
        return Spool(self._outputs / f"{safe}.log", self.options.output_limit_bytes, self._redact)
