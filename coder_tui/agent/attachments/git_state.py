"""Tells the model how the repository stands when a person begins: beside their words, for it changes.

Whether the repository has changes that no commit holds: a sign beside the branch's name.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.messages import Attachment
from coder_tui.tools.base import Tool, ToolContext

GIT_STATE = "git state when this message was sent"
MOST_LINES = 30
STATE_PATIENCE = 2.0
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
            async with asyncio.timeout(STATE_PATIENCE):
                result = await self._status.run(self._status.params(short=True), context)
        except (ToolError, TimeoutError):
            return ()  # no git, no repository, a huge one: the model can still ask for it
        lines = str(result.for_model.get("content", "")).splitlines()
        more = [f"(and {len(lines) - MOST_LINES} more)"] if len(lines) > MOST_LINES else []
        said = "\n".join([*lines[:MOST_LINES], *more])
        return (Attachment(GIT_STATE, said),) if said else ()


CHANGES_PATIENCE = 5.0
_BRANCH = "##"

HasChanges = Callable[[], Awaitable[bool]]


async def no_changes() -> bool:
    """Where there is no repository."""
    return False


def git_changes(status: Tool[Any], directory: Path) -> HasChanges:
    """`status` is the git_status tool: it runs nothing of the repository's own."""

    async def has_changes() -> bool:
        context = ToolContext("", uuid4().hex, directory)
        try:
            async with asyncio.timeout(CHANGES_PATIENCE):
                result = await status.run(status.params(short=True), context)
        except (ToolError, TimeoutError):
            return False  # no git, no repository, a huge one: nothing is claimed
        lines = str(result.for_model.get("content", "")).splitlines()
        return any(not line.startswith(_BRANCH) for line in lines)

    return has_changes
