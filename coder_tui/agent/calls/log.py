"""Store the calls and decisions of a session."""

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.policy.decide import Verdict
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.messages import ToolCall
from coder_tui.storage.store import CallRecord, DecisionRecord, FinishedCall, Store


class CallLog(Protocol):
    """Stores calls: before they run, and with their result."""

    async def started(
        self, call: ToolCall, message_id: str, tool: str, kind: ToolKind, summary: str
    ) -> None: ...

    async def finished(self, call: FinishedCall, *, is_inner: bool) -> None:
        """Store a result. That of a call inside another one is part of the outer result."""

    def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AbstractAsyncContextManager[None]:
        """Record `paths` as they are before the block runs and after it."""

    def watching(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        """The same for a command, whose changes are not known before; the list has them after the block."""


@dataclass(frozen=True, slots=True)
class SessionLog:
    """The `CallLog` and `DecisionLog` of one session."""

    store: Store
    session_id: str
    conversation: Conversation
    changes: SessionChanges

    async def started(self, call: ToolCall, message_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        record = CallRecord(call.id, message_id, tool, call.arguments, summary, kind)
        await self.store.calls.begin(self.session_id, record)

    async def finished(self, call: FinishedCall, *, is_inner: bool) -> None:
        await self.store.calls.finish(self.session_id, call, is_inner=is_inner)
        if not is_inner:
            self.conversation.note_result(call.message)

    def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AbstractAsyncContextManager[None]:
        return self.changes.keeping(call_id, paths)

    def watching(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        return self.changes.commands.track(call_id, touches_git=touches_git)

    async def decided(self, call_id: str, tool: str, verdict: Verdict, answer: str) -> None:
        record = DecisionRecord(call_id, tool, verdict.effect, verdict.rule, verdict.source, answer)
        await self.store.decisions.add(self.session_id, record)


class NoLog:
    """For calls outside a session: nothing is stored."""

    async def started(self, call: ToolCall, message_id: str, tool: str, kind: ToolKind, summary: str) -> None:
        return None

    async def finished(self, call: FinishedCall, *, is_inner: bool) -> None:
        return None

    def keeping(self, call_id: str, paths: tuple[Path, ...]) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def watching(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        return nullcontext([])

    async def decided(self, call_id: str, tool: str, verdict: Verdict, answer: str) -> None:
        return None
