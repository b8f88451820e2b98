"""Reads a picture from a file of the workspace, for a model that sees."""

import os

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.confine import Located, open_regular
from coder_tui.workspace.images import HEAD, Picture, look_at

MOST_BYTES = 5_000_000
"""What providers take in one message, with some room."""


def picture_at(located: Located) -> Picture | None:
    """What the file begins with; None for what is no picture. Blocks."""
    return look_at(_first_bytes(located, HEAD))


def picture_data(located: Located) -> bytes:
    """All of it, unless it is too large. Blocks."""
    data = _first_bytes(located, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ToolError(
            ErrorType.TOO_LARGE, f"it is larger than {MOST_BYTES // 1_000_000} MB.", "Make it smaller."
        )
    return data


def _first_bytes(located: Located, most: int) -> bytes:
    with os.fdopen(open_regular(located), "rb") as file:
        return file.read(most)
