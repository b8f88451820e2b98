"""The shell of one session: runs commands confined, in front or in the background."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coder_tui.policy.shell.analyse import ShellCommand, analyse
from coder_tui.shell.command import Completed, Kept, Spool, run_launch, shell_argv
from coder_tui.shell.conversation import Answer, converse, told_to_nobody
from coder_tui.shell.environment import clean_environment
from coder_tui.shell.jobs import Job, JobTable
from coder_tui.shell.running import Launch
from coder_tui.shell.sandbox.confinement import Confinement, confinement_for
from coder_tui.shell.sandbox.sandbox import Sandbox

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
    """`outputs` is the folder for the whole text of what had to be cut, which `redact` frees of secrets."""

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
        """What an approved command runs with. Blocks."""
        return confinement_for(command, self.sandbox.roots, self.sandbox.home, self.options.network)

    def analysed(self, command: str) -> ShellCommand:
        """What a command would do. Blocks: it looks at files that the command names."""
        roots = tuple(map(str, self.sandbox.roots))
        return analyse(command, str(self.root), home=str(self.sandbox.home), roots=roots)

    def confinement_of(self, command: str) -> Confinement:
        """For a command that a person put into their settings. Blocks."""
        return self.confinement(self.analysed(command))

    async def run(
        self,
        command: str,
        confinement: Confinement,
        *,
        name: str,
        time_limit: float,
        on_output: Callable[[str], None],
    ) -> Completed:
        """Run to the end. `name` is unique for this call. Raises OSError when it cannot start."""
        kept = Kept(self.options.output_limit_bytes, on_output, self._spool(name))
        async with self._launched(command, confinement) as (launch, _):
            return await run_launch(launch, kept, directory=self.root, time_limit=time_limit)

    async def start(self, command: str, confinement: Confinement, *, name: str) -> Job:
        """Start in the background."""
        async with self._launched(command, confinement) as (launch, held):
            limit = self.options.output_limit_bytes
            job = self.jobs.new(command, limit, self._spool(name), held.pop_all())
            await job.start(launch, self.root)
            self.jobs.add(job)
            return job

    async def converse(
        self,
        command: str,
        given: str,
        confinement: Confinement | None,
        *,
        time_limit: float,
        limit: int,
        variables: Mapping[str, str] = NO_VARIABLES,
        on_output: Callable[[str], None] = told_to_nobody,
        stops_flood: bool = True,
    ) -> Answer:
        """Run a command that reads `given`; None as its confinement: the person wants it unconfined.

        Raises OSError when it cannot start, `ToolError` where it would have to be confined and cannot.
        """
        async with self._launched(command, confinement, variables) as (launch, _):
            return await converse(
                launch,
                given,
                directory=self.root,
                time_limit=time_limit,
                limit=limit,
                on_output=on_output,
                stops_flood=stops_flood,
            )

    async def close(self) -> None:
        """End the background jobs and remove what was made for this session."""
        await self.jobs.close()
        await asyncio.to_thread(self.sandbox.close)

    @contextlib.asynccontextmanager
    async def _launched(
        self, command: str, confinement: Confinement | None, variables: Mapping[str, str] = NO_VARIABLES
    ) -> AsyncIterator[tuple[Launch, ExitStack]]:
        """Prepared in a thread; whoever takes the stack over releases it later."""
        with ExitStack() as held:
            preparing = asyncio.ensure_future(
                asyncio.to_thread(self._prepare, held, command, confinement, variables)
            )
            try:
                launch = await asyncio.shield(preparing)
            except asyncio.CancelledError:
                # The thread goes on: what it makes must be released.
                await asyncio.wait({preparing})
                raise
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
        # Inside of a sandbox a missing shell would look like a command that failed.
        if shutil.which(self.options.shell) is None:
            raise FileNotFoundError(2, "No such file or directory", self.options.shell)
        return shell_argv(self.options.shell, command, path)

    def _spool(self, name: str) -> Spool:
        safe = "".join(char if char.isalnum() or char in "-_" else "_" for char in name)[:120]
        return Spool(self._outputs / f"{safe}.log", self.options.output_limit_bytes, self._redact)
