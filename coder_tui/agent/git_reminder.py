"""Tells the model how the repository stands when a person begins: beside their words, for it changes."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import uuid4

from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.tools.base import Tool, ToolContext

GIT_STATE = "git state when this message was sent"
MOST_LINES = 30
PATIENCE = 2.0
"""Seconds that a person's first message may wait for it."""


class GitReminder:
    """With the first message of a session, and again where it is resumed. `status` is the git_status tool."""

    def __init__(self, status: Tool[Any], directory: Path) -> None:
        self._status = status
        self._directory = directory
        self._is_told = False

    async def of(self, text: str) -> tuple[Attachment, ...]:
        if self._is_told:
            return ()
        self._is_told = True
        context = ToolContext("", uuid4().hex, self._directory)
        try:
            async with asyncio.timeout(PATIENCE):
                result = await self._status.run(self._status.params(short=True), context)
        except (ToolError, TimeoutError):
            return ()  # no git, no repository, a huge one: the model can still ask for it
        lines = str(result.for_model.get("content", "")).splitlines()
        more = [f"(and {len(lines) - MOST_LINES} more)"] if len(lines) > MOST_LINES else []
        said = "\n".join([*lines[:MOST_LINES], *more])
        return (Attachment(GIT_STATE, said),) if said else ()
