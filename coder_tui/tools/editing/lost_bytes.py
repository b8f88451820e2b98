"""Keeps bytes that are not text through a change: models see a sign for them, and write that sign back."""

import re

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files import show

_LOST = "\ufffd"


def restore(raw: str, new: str) -> str:
    """Put undecodable bytes of `raw` back where `new` repeats the sign that stood for them."""
    if raw == show(raw) or _LOST not in new:
        return new
    originals = [character for character in raw if show(character) == _LOST]
    if len(originals) != new.count(_LOST):
        raise ToolError(
            ErrorType.INVALID_TOOL_PARAMS,
            "invalid args: new_string: the place holds bytes that are not text, and they would be lost",
            "Leave the lines with \ufffd out of the change.",
        )
    remaining = iter(originals)
    return re.sub(_LOST, lambda match: next(remaining), new)
