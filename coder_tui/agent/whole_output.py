"""Finds all that a command printed, where its result holds a part of it only."""

import json
from collections.abc import Iterable
from pathlib import Path

from coder_tui.protocol.messages import Message, ToolMessage

MOST_BYTES = 50_000_000
_COMMANDS = frozenset({"bash", "bash_output"})
"""Tools whose results name a file of the program's own; another tool's words are not to be trusted."""


def whole_output(backwards: Iterable[Message], call_id: str) -> str | None:
    """The text of the file that the call's result names; None where there is none. Blocks.

    The newest message comes first.
    """
    for message in backwards:
        if isinstance(message, ToolMessage) and message.call_id == call_id:
            return _read(message.content) if message.tool in _COMMANDS else None
    return None


def _read(content: str) -> str | None:
    try:
        result = json.loads(content)
        path = result.get("output_file") if isinstance(result, dict) else None
        if not isinstance(path, str):
            return None
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None  # gone since: what the block holds is all there is
