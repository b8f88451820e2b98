"""Puts a model's stream together into one reply."""

from collections.abc import Container
from dataclasses import dataclass, field
from uuid import uuid4

from coder_tui.llm.client import StreamFinished, StreamItem, TextChunk, ThinkingChunk, ToolCallChunk
from coder_tui.protocol.messages import AssistantMessage, FinishReason, ToolCall
from coder_tui.tools.aliases import canonical_name


@dataclass(slots=True)
class CallDraft:
    id: str
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    received: int = 0


@dataclass(slots=True)
class ReplyDraft:
    """Grows with each item; only a finished draft becomes a message with calls."""

    message_id: str = ""
    used_ids: Container[str] = frozenset()
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[int, CallDraft] = field(default_factory=dict)
    finished: StreamFinished | None = None

    def add(self, item: StreamItem) -> None:
        match item:
            case TextChunk():
                self.text.append(item.text)
            case ThinkingChunk():
                self.thinking.append(item.text)
            case ToolCallChunk():
                self._add_call(item)
            case StreamFinished():
                self.finished = item

    def _add_call(self, item: ToolCallChunk) -> None:
        draft = self.calls.get(item.index)
        if draft is None:
            draft = self.calls[item.index] = CallDraft(self._unique(item.id))
        draft.name = draft.name or item.name
        draft.arguments.append(item.arguments)
        draft.received += len(item.arguments)

    def _unique(self, wanted: str) -> str:
        """Results are found by id, yet some servers number their calls from zero in every reply."""
        taken = wanted in self.used_ids or any(draft.id == wanted for draft in self.calls.values())
        return wanted if wanted and not taken else f"call_{uuid4().hex[:20]}"

    @property
    def is_cut(self) -> bool:
        """Whether the model ran into its output limit: its last call may be half written."""
        return self.finished is not None and self.finished.reason is FinishReason.LENGTH

    @property
    def whole_text(self) -> str:
        return "".join(self.text)

    @property
    def whole_thinking(self) -> str:
        return "".join(self.thinking)

    @property
    def said(self) -> str:
        """All that was streamed so far, which is what a provider counts."""
        calls = (f"{draft.name}{''.join(draft.arguments)}" for draft in self.calls.values())
        return "".join((*self.thinking, *self.text, *calls))

    def message(self, model: str, known_tools: frozenset[str]) -> AssistantMessage:
        """The reply to store. What an unfinished stream wrote of calls and thinking does not count."""
        if self.finished is None:
            return AssistantMessage(self.message_id, self.whole_text, model=model)
        calls = tuple(
            ToolCall(draft.id, canonical_name(draft.name, known_tools), "".join(draft.arguments))
            for _, draft in sorted(self.calls.items())
        )
        return AssistantMessage(
            self.message_id,
            self.whole_text,
            self.finished.thinking,
            calls,
            model,
            FinishReason.TOOL_CALLS if calls and not self.is_cut else self.finished.reason,
            self.finished.usage,
        )
