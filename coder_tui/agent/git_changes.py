"""Whether the repository has changes that no commit holds: a sign beside the branch's name."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from coder_tui.protocol.errors import ToolError
from coder_tui.tools.base import Tool, ToolContext

PATIENCE = 5.0
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
            async with asyncio.timeout(PATIENCE):
                result = await status.run(status.params(short=True), context)
        except (ToolError, TimeoutError):
            return False  # no git, no repository, a huge one: nothing is claimed
        lines = str(result.for_model.get("content", "")).splitlines()
        return any(not line.startswith(_BRANCH) for line in lines)

    return has_changes
