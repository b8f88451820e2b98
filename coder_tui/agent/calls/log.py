"""What is kept of calls, and by whom: a session's log, or a call that makes others.

Keeps a session's calls and decisions in the store.
"""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.policy.decide import Verdict
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.messages import ToolCall, ToolMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.storage.store import CallRecord, DecisionRecord, Store


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


class SessionLog:
    """The runner's `CallLog` and the desk's `DecisionLog`, for one session."""

    def __init__(
        self, store: Store, session_id: str, conversation: Conversation, changes: SessionChanges
    ) -> None:
        self._store = store
        self._session_id = session_id
        self._conversation = conversation
        self._changes = changes

    async def started(self, call: ToolCall, message_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        record = CallRecord(call.id, message_id, tool, call.arguments, summary, kind)
        await self._store.record_call(self._session_id, record)

    async def finished(self, call: FinishedCall) -> None:
        await self._store.finish_call(
            self._session_id,
            call.call_id,
            call.outcome,
            call.message.content,
            call.summary,
            call.display,
            call.duration_ms,
            call.message,
        )
        self._conversation.note_result(call.message)

    async def finished_within(self, call: FinishedCall) -> None:
        await self._store.finish_inner_call(
            self._session_id,
            call.call_id,
            call.outcome,
            call.message.content,
            call.summary,
            call.display,
            call.duration_ms,
        )

    def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AbstractAsyncContextManager[None]:
        return self._changes.keeping(call_id, paths)

    def watching(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        return self._changes.watch.over(call_id, touches_git=touches_git)

    async def decided(self, call_id: str, tool: str, verdict: Verdict, answer: str) -> None:
        record = DecisionRecord(call_id, tool, verdict.effect, verdict.rule, verdict.source, answer)
        await self._store.add_decision(self._session_id, record)


class NoLog:
    """For calls outside of a session: nothing to keep."""

    async def started(self, call: ToolCall, message_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        return None

    async def finished(self, call: FinishedCall) -> None:
        return None

    async def finished_within(self, call: FinishedCall) -> None:
        return None

    def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def watching(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        return nullcontext([])

    async def decided(self, call_id: str, tool: str, verdict: Verdict, answer: str) -> None:
        return None
