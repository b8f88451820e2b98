"""Run the user's own commands, confined and shown as calls, and show or stop background commands."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from coder_tui.agent.calls.permissions import Permissions, ProposedCall
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.pending import HeldAttachments
from coder_tui.protocol.access import BY_USER
from coder_tui.protocol.display import DisplayBlock, TerminalBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError, UserError
from coder_tui.protocol.events import ToolFinished, ToolProgressed, ToolStarted
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import Outcome
from coder_tui.shell.jobs import Job, JobState, JobTable
from coder_tui.text.redact import KnownStream, Redactor, map_texts
from coder_tui.text.terminal import plain_output
from coder_tui.tools.arguments import parse_call, with_edited_text
from coder_tui.tools.base import Params, Tool, ToolContext

BASH = "bash"


@dataclass(frozen=True, slots=True)
class UserCommandRunner:
    """Runs commands by deny rules and in the sandbox. `bash` returns the tool that runs them."""

    session_id: str
    directory: Path
    bus: EventBus
    permissions: Permissions
    bash: Callable[[], Tool[Any]]
    redact: Redactor
    opens_named: bool = True
    """Whether a command runs with what it names outside of the workspace; a project's does not."""

    async def run(
        self,
        command: str,
        *,
        label: str,
        answer: str,
        timeout_ms: int | None = None,
        is_asked: bool = False,
    ) -> TerminalBlock | None:
        """Run a command to its end; return None if it was denied or did not start, which the call shows.

        `label` stands for the tool's name, `answer` is what the log of decisions says. `is_asked`: it is not
        the user's own after all, so that it is decided on, and asked about, as a model's would be.
        """
        call_id, began = f"{label}-{uuid4().hex}", time.monotonic()
        tool, summary = self.bash(), command.strip().partition("\n")[0]
        self.bus.publish(ToolStarted(call_id, label, tool.kind, summary))

        def finished(outcome: Outcome, shown: DisplayBlock) -> None:
            took = round((time.monotonic() - began) * 1000)
            self.bus.publish(ToolFinished(call_id, label, outcome, summary, shown, took))

        try:
            shown = await self._ran(call_id, tool, command, answer, timeout_ms, is_asked=is_asked)
        except ToolError as error:
            is_denied = error.type in (ErrorType.PERMISSION_DENIED, ErrorType.DENIED_BY_USER)
            outcome = Outcome.DENIED if is_denied else Outcome.FAILED
            finished(outcome, TextBlock(f"{error.message}\n{error.hint}".strip()))
            return None
        except asyncio.CancelledError:
            finished(Outcome.CANCELLED, TextBlock("stopped"))
            raise
        finished(Outcome.FAILED if shown.exit_code else Outcome.OK, shown)
        return shown

    async def _ran(
        self,
        call_id: str,
        tool: Tool[Any],
        command: str,
        answer: str,
        timeout_ms: int | None,
        *,
        is_asked: bool,
    ) -> TerminalBlock:
        limit = {} if timeout_ms is None else {"timeout_ms": timeout_ms}
        _, params = parse_call(tool, json.dumps({"command": command, **limit}))
        live = KnownStream(self.redact)
        context = ToolContext(
            self.session_id,
            call_id,
            self.directory,
            progress=lambda text: self.bus.publish(ToolProgressed(call_id, live.feed(text))),
        )
        access = await tool.access(params, context)
        call = ProposedCall(call_id, tool, params, access, is_users=True)
        if is_asked:
            clearance = await self.permissions.approve(call)
            if clearance.edited is None:
                return await self._shown(tool, params, replace(context, access=access))
            params = with_edited_text(tool, params, clearance.edited)
            access = await tool.access(params, context)
            call = replace(call, params=params, access=access)
        await self.permissions.approve_edited(call, answer)
        if access is not None and not self.opens_named:
            access = replace(access, command=None)
        return await self._shown(tool, params, replace(context, access=access))

    async def _shown(self, tool: Tool[Any], params: Params, context: ToolContext) -> TerminalBlock:
        result = await tool.run(params, context)
        shown = map_texts(result.for_user, self.redact.known)
        if not isinstance(shown, TerminalBlock):
            raise ToolError(ErrorType.EXECUTION_FAILED, "The command did not run.")
        return shown


TYPED = "typed by you"
MOST_CHARACTERS = 50_000
"""Of what goes to the model; the end of an output tells more than its beginning."""
_CUT = "(the beginning is cut)\n"


class UserShell:
    """Runs what the user typed: by deny rules and in the sandbox, but without approval."""

    def __init__(self, commands: UserCommandRunner, held: HeldAttachments) -> None:
        self._commands = commands
        self._held = held

    async def run(self, command: str, *, is_shared: bool) -> None:
        """To its end, shown as a call. Shared, its output goes along with the user's next message."""
        shown = await self._commands.run(command, label=BY_USER, answer=TYPED)
        if shown is not None and is_shared:
            self._held.hold(_attachment(shown))


def _attachment(shown: TerminalBlock) -> Attachment:
    output = shown.output
    if len(output) > MOST_CHARACTERS:
        output = _CUT + output[-MOST_CHARACTERS:]
    code = "" if shown.exit_code is None else f"\n(exit code {shown.exit_code})"
    return Attachment(f"$ {shown.command}", f"{output.rstrip()}{code}")


class BackgroundJobs:
    """Looking here takes nothing away from what the model reads of a job."""

    def __init__(self, jobs: JobTable, redact: Redactor) -> None:
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
