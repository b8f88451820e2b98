"""The panes beside the conversation by name, and how much room a terminal has for them."""

from enum import StrEnum

from textual.geometry import Size

MEDIUM, WIDE = 100, 140
"""Columns from which there is room for one pane beside the conversation, and for all."""
HIGH = 16
"""Rows from which several panes one below the other make sense."""


class PaneName(StrEnum):
    """In the order in which they stand; the value is the title."""

    CHANGES = "changes"
    TODOS = "todo"
    PROBLEMS = "problems"


class Room(StrEnum):
    NARROW = "narrow"
    MEDIUM = "medium"
    WIDE = "wide"


def room_for(size: Size) -> Room:
    if size.width < MEDIUM:
        return Room.NARROW
    return Room.WIDE if size.width >= WIDE and size.height >= HIGH else Room.MEDIUM
