"""Runs a command that the person typed: as the model's would run, but neither asked about nor told to it."""

from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.agent.shown_command import BASH, ShownCommands
from coder_tui.protocol.access import PERSON
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.messages import Attachment

if TYPE_CHECKING:  # the session holds this
    from coder_tui.agent.session import SessionParts

TYPED = "typed by you"
MOST_CHARACTERS = 50_000
"""Of what goes to the model; the end of an output tells more than its beginning."""
_CUT = "(the beginning is cut)\n"


class PersonShell:
    """Deny rules hold, and the sandbox does; the person's own words need no approval."""

    def __init__(self, parts: "SessionParts") -> None:
        runner = parts.services.runner
        self._held = parts.services.held
        self._commands = ShownCommands(
            parts.info.id,
            Path(parts.info.directory),
            parts.bus,
            parts.desk,
            lambda: runner.registry.get(BASH),
            runner.redact,
        )

    async def run(self, command: str, *, is_shared: bool) -> None:
        """To its end, shown as a call. Shared, its output goes along with the person's next message."""
        shown = await self._commands.run(command, label=PERSON, answer=TYPED)
        if shown is not None and is_shared:
            self._held.hold(_attachment(shown))


def _attachment(shown: TerminalBlock) -> Attachment:
    output = shown.output
    if len(output) > MOST_CHARACTERS:
        output = _CUT + output[-MOST_CHARACTERS:]
    code = "" if shown.exit_code is None else f"\n(exit code {shown.exit_code})"
    return Attachment(f"$ {shown.command}", f"{output.rstrip()}{code}")
