"""A session in a folder for those who drive the core by program: an editor, a script.

Who closes a model's process: the session that has it alone, or whoever lends one to several.
"""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Protocol

from coder_tui.agent.session import Session
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.models import SessionModels
from coder_tui.bootstrap.open_session import (
    NO_MODEL,
    choose_model,
    describe_model,
    model_keys,
    open_core,
    open_session,
    prepare,
    start_warnings,
)
from coder_tui.bootstrap.session_factory import Core
from coder_tui.llm.client import ModelClient
from coder_tui.llm.host_client import HostClient
from coder_tui.protocol.errors import ModelError, NoModelError, UserError
from coder_tui.protocol.outcomes import NoticeLevel


class ModelClients(Protocol):
    def take(self, client: ModelClient) -> ModelClient:
        """The client to use in place of this one, which has not been used yet."""

    async def give_back(self, client: ModelClient) -> None: ...


class OwnClients:
    """Each session has its own, and closes it."""

    def take(self, client: ModelClient) -> ModelClient:
        return client

    async def give_back(self, client: ModelClient) -> None:
        await client.close()


class SharedClients:
    """One process for all sessions whose settings agree: each holds litellm, large and slow to load."""

    def __init__(self) -> None:
        self._lent: list[HostClient] = []

    def take(self, client: ModelClient) -> ModelClient:
        if not isinstance(client, HostClient):
            return client
        for known in self._lent:
            if known.does_the_same(client):
                return known
        self._lent.append(client)
        return client

    async def give_back(self, client: ModelClient) -> None:
        """Kept for the next session."""

    async def close(self) -> None:
        for client in self._lent:
            await client.close()


@dataclass(slots=True)
class FolderSession:
    """`close` ends the session, and what was opened for it."""

    core: Core
    session: Session
    clients: ModelClients
    models: SessionModels
    _warming: "asyncio.Task[None] | None" = field(default=None)

    def warm(self) -> None:
        """Get the model ready beside whatever comes first."""
        self._warming = asyncio.create_task(self._describe())

    async def close(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait({self._warming})
        try:
            await self.session.close()
        finally:
            await _close(self.core, self.clients)

    async def _describe(self) -> None:
        try:
            await describe_model(self.core, self.session)
        except ModelError as error:
            self.session.notice(NoticeLevel.WARNING, str(error))


async def _close(core: Core, clients: ModelClients) -> None:
    await clients.give_back(core.client)
    await core.store.close()


async def open_folder(invocation: Invocation, clients: ModelClients) -> FolderSession:
    """`UserError` says what is wrong; what a person should know goes to the session as notices."""
    setup = await asyncio.to_thread(prepare, invocation)
    keys = model_keys(setup)
    choice = await choose_model(setup.settings, keys)
    if choice is None:
        raise NoModelError(NO_MODEL)
    core = await open_core(setup, choice, keys)
    core = replace(core, client=clients.take(core.client))
    try:
        session = await open_session(core, invocation)
    except UserError:
        await _close(core, clients)
        raise
    for warning in (*start_warnings(setup), *keys.warnings):
        session.notice(NoticeLevel.WARNING, warning)
    return FolderSession(core, session, clients, SessionModels(core, session, keys))
