"""A sub-agent's conversation as entries of a page."""

from collections.abc import Iterable, Iterator

from coder_tui.protocol.events import Event, MessageFinished, ToolFinished, ToolStarted, UserMessageAdded
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.drawing.call_entry import CallEntry, state_of
from coder_tui.ui.drawing.entries import Entry, NoteEntry, ThinkingEntry, reply_entries


def child_entries(events: Iterable[Event]) -> Iterator[Entry]:
    """What it was told, said and did; its parent's words are no person's."""
    for event in events:
        match event:
            case UserMessageAdded(_, text):
                yield NoteEntry(NoticeLevel.INFO, f"asked to: {safe_text(text)}")
            case MessageFinished(_, text, thinking):
                if thinking.strip():
                    yield ThinkingEntry(safe_text(thinking))
                if text.strip():
                    yield from reply_entries(safe_text(text))
            case ToolStarted(call_id, tool, kind, summary):
                yield CallEntry(safe_line(tool), safe_line(summary), kind, call_id=call_id)
            case ToolFinished(call_id, tool, outcome, summary, display, duration_ms):
                yield CallEntry(
                    safe_line(tool),
                    safe_line(summary),
                    state=state_of(outcome),
                    display=display,
                    duration_ms=duration_ms,
                    call_id=call_id,
                )
            case _:
                pass
