"""An editor with the Agent Client Protocol: the protocol's own Python client, with a fake user."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from acp import Client, spawn_agent_process
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)

from tests.fakes.program import PLAIN, Program

Choose = Callable[[ToolCallUpdate, list[PermissionOption]], str | None]


@dataclass
class Editor:
    """`choose` returns the kind of the option that the user picks, or None for "cancelled".

    Somebody who `is_away` does not answer at all.
    """

    choose: Choose = lambda call, options: "allow_once"
    updates: list[tuple[str, Any]] = field(default_factory=list)
    asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    is_away: bool = False

    def on_connect(self, conn: object) -> None:
        return None

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update))
        self.changed.set()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, options))
        self.changed.set()
        if self.is_away:
            await asyncio.Event().wait()
        kind = self.choose(tool_call, options)
        if kind is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        chosen = next(option for option in options if option.kind == kind)
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        )

    def of(self, session_id: str, kind: str) -> list[Any]:
        """The updates of a session that are of one kind, in order."""
        return [each for owner, each in self.updates if owner == session_id and each.session_update == kind]

    def text(self, session_id: str, kind: str = "agent_message_chunk") -> str:
        return "".join(each.content.text for each in self.of(session_id, kind))

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not holds():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def started(
    editor: Editor, program: Program, arguments: Sequence[str] = (), **environment: str
) -> AsyncIterator[tuple[ClientSideConnection, "asyncio.subprocess.Process"]]:
    """`coder-tui acp` as an editor starts it."""
    client = cast(Client, editor)  # what an editor may offer more is not offered here
    async with spawn_agent_process(
        client,
        PLAIN,
        "acp",
        *arguments,
        env={**program.environment, **environment, "PATH": os.environ["PATH"]},
        cwd=program.project,
        use_unstable_protocol=True,
        transport_kwargs={"limit": 2**26, "shutdown_timeout": 20},
    ) as (connection, process):
        yield connection, process
