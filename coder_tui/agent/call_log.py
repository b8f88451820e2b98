"""What is kept of calls, and by whom: a session's log, or a call that makes others."""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.messages import ToolCall, ToolMessage
from coder_tui.protocol.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call's end, as it is stored and shown."""

    call_id: str
    tool: str
    outcome: Outcome
    summary: str
    display: DisplayBlock
    duration_ms: int
    message: ToolMessage


class CallLog(Protocol):
    """Keeps calls: before they run, and with their result."""

    async def started(
        self, call: ToolCall, message_id: str, tool: str, kind: ToolKind, summary: str
    ) -> None: ...

    async def finished(self, call: FinishedCall) -> None: ...

    async def finished_within(self, call: FinishedCall) -> None:
        """As `finished`, for a call inside of another, whose result tells the model of it."""

    def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AbstractAsyncContextManager[None]:
        """Keeps how `paths` are before the block runs, and notes how it left them."""

    def watching(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        """The same for a command, of which nobody knows what it will change; the list tells it in the end."""
