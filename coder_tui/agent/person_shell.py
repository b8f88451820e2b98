"""Runs a command that the person typed: as the model's would run, but neither asked about nor told to it."""

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from coder_tui.protocol.access import PERSON
from coder_tui.protocol.display import DisplayBlock, TerminalBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.events import ToolFinished, ToolProgressed, ToolStarted
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import Outcome
from coder_tui.text.redact import map_texts
from coder_tui.text.stream_redactor import KnownStream
from coder_tui.tools.base import Tool, ToolContext
from coder_tui.tools.call import understand

if TYPE_CHECKING:  # the session holds this
    from coder_tui.agent.session import SessionParts

BASH = "bash"
TYPED = "typed by you"
MOST_CHARACTERS = 50_000
"""Of what goes to the model; the end of an output tells more than its beginning."""
_CUT = "(the beginning is cut)\n"


class PersonShell:
    """Deny rules hold, and the sandbox does; the person's own words need no approval."""

    def __init__(self, parts: "SessionParts") -> None:
        self._parts = parts

    async def run(self, command: str, *, is_shared: bool) -> None:
        """To its end, shown as a call. Shared, its output goes along with the person's next message."""
        call_id, began = f"person-{uuid4().hex}", time.monotonic()
        tool, summary = self._tool(), command.strip().partition("\n")[0]
        self._parts.bus.publish(ToolStarted(call_id, PERSON, tool.kind, summary))

        def finished(outcome: Outcome, shown: DisplayBlock) -> None:
            took = round((time.monotonic() - began) * 1000)
            self._parts.bus.publish(ToolFinished(call_id, PERSON, outcome, summary, shown, took))

        try:
            shown = await self._ran(call_id, tool, command)
        except ToolError as error:
            is_denied = error.type is ErrorType.PERMISSION_DENIED
            outcome = Outcome.DENIED if is_denied else Outcome.FAILED
            finished(outcome, TextBlock(f"{error.message}\n{error.hint}".strip()))
        except asyncio.CancelledError:
            finished(Outcome.CANCELLED, TextBlock("stopped"))
            raise
        else:
            finished(Outcome.FAILED if shown.exit_code else Outcome.OK, shown)
            if is_shared:
                self._parts.services.held.hold(_attachment(shown))

    def _tool(self) -> Tool[Any]:
        return self._parts.services.runner.registry.get(BASH)

    async def _ran(self, call_id: str, tool: Tool[Any], command: str) -> TerminalBlock:
        _, params = understand(tool, json.dumps({"command": command}))
        redact, bus = self._parts.services.runner.redact, self._parts.bus
        live = KnownStream(redact)
        context = ToolContext(
            self._parts.info.id,
            call_id,
            Path(self._parts.info.directory),
            progress=lambda text: bus.publish(ToolProgressed(call_id, live.feed(text))),
        )
        access = await tool.access(params, context)
        await self._parts.desk.clear_edited(call_id, tool, access, TYPED)
        result = await tool.run(params, replace(context, access=access))
        shown = map_texts(result.for_user, redact.known)
        if not isinstance(shown, TerminalBlock):
            raise ToolError(ErrorType.EXECUTION_FAILED, "The command did not run.")
        return shown


def _attachment(shown: TerminalBlock) -> Attachment:
    output = shown.output
    if len(output) > MOST_CHARACTERS:
        output = _CUT + output[-MOST_CHARACTERS:]
    code = "" if shown.exit_code is None else f"\n(exit code {shown.exit_code})"
    return Attachment(f"$ {shown.command}", f"{output.rstrip()}{code}")
