"""Remembers commands that ran beside the conversation: what is stored does not have them."""

from collections.abc import Iterable, Iterator

from coder_tui.agent.command_calls import INSERT
from coder_tui.protocol.access import PERSON, VERIFY
from coder_tui.protocol.events import Event, MessageFinished, ToolFinished, UserMessageAdded

MOST = 200
"""Rows; older ones are given up."""
_LABELS = frozenset({VERIFY, INSERT, PERSON})


class RowsBeside:
    """Each with what stood before it: where that is gone, taken back, so is the row, until it is back."""

    def __init__(self, earlier: Iterable[Event]) -> None:
        self._rows: list[tuple[str, ToolFinished]] = []
        self._last = ""
        for event in earlier:
            self.hear(event)

    def hear(self, event: Event) -> None:
        if isinstance(event, ToolFinished) and _is_beside(event):
            self._rows = [*self._rows[1 - MOST :], (self._last, event)]
        elif key := _key(event):
            self._last = key

    def among(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events of the conversation with those rows at their places."""
        self._last = ""
        yield from self._behind("")
        for event in events:
            yield event
            if key := _key(event):
                self._last = key
                yield from self._behind(key)

    def _behind(self, key: str) -> Iterator[Event]:
        return (row for place, row in self._rows if place == key)


def _is_beside(event: ToolFinished) -> bool:
    return event.tool in _LABELS and event.call_id.startswith(f"{event.tool}-")


def _key(event: Event) -> str:
    match event:
        case UserMessageAdded(id) | MessageFinished(id):
            return id
        case ToolFinished():
            return event.call_id
        case _:
            return ""
