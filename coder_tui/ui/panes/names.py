"""Names of the panes next to the conversation, and from which size of a terminal they fit."""

from enum import StrEnum

from textual.geometry import Size

MEDIUM, WIDE = 100, 140
"""Columns from which there is room for one pane next to the conversation, and for all."""
HIGH = 16
"""Rows from which several panes can be stacked."""


class PaneName(StrEnum):
    """From top to bottom; the value is the title."""

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
