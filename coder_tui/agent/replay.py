"""Turns a stored session back into the events that once built its screen."""

from collections.abc import Iterator

from coder_tui.agent.attachments import told
from coder_tui.protocol.display import SubagentsBlock, TextBlock
from coder_tui.protocol.events import Event, MessageFinished, ToolFinished
from coder_tui.protocol.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.subagents import ChildLine
from coder_tui.storage.sessions import StoredCall, StoredSession


def replay(stored: StoredSession) -> Iterator[Event]:
    """Finished things only, in the order in which they were said."""
    for message in stored.messages:
        match message:
            case UserMessage():
                yield from told(message)
            case AssistantMessage():
                thinking = "".join(block.text for block in message.thinking)
                if message.text or thinking:
                    yield MessageFinished(message.id, message.text, thinking)
                for call in message.calls:
                    children = stored.children.get(call.id, ())
                    yield _finished(call, stored.calls.get(call.id), children)
            case ToolMessage():
                pass


def _finished(call: ToolCall, stored: StoredCall | None, children: tuple[ChildLine, ...]) -> ToolFinished:
    if stored is None or stored.outcome is None or stored.display is None:
        return ToolFinished(call.id, call.name, Outcome.CANCELLED, "", TextBlock("not run"), 0)
    # What sub-agents came to says more than that their call was stopped.
    display = SubagentsBlock(children) if children else stored.display
    return ToolFinished(
        call.id, stored.record.tool, stored.outcome, stored.summary, display, stored.duration_ms
    )
