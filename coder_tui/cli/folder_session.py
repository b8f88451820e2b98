"""A session in a folder for those who drive the core by program: an editor, a script."""

import asyncio
from dataclasses import dataclass, field, replace

from coder_tui.agent.session import Session
from coder_tui.bootstrap import Core
from coder_tui.cli.invocation import Invocation
from coder_tui.cli.model_choice import SessionModels
from coder_tui.cli.model_clients import ModelClients
from coder_tui.cli.opening import (
    NO_MODEL,
    choose_model,
    describe_model,
    model_keys,
    open_core,
    open_session,
    prepare,
    start_warnings,
)
from coder_tui.protocol.errors import ModelError, NoModelError, UserError
from coder_tui.protocol.outcomes import NoticeLevel


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
