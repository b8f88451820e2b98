"""Open sessions: for a user at a terminal, with the demo if there is no model, or for programs in a folder.

Lists stored sessions and models for users, and switches between these. For programs that drive the core, such
as an editor or a script, a model's process is closed with its session, or kept for several sessions.
"""

import asyncio
from dataclasses import dataclass, field
from functools import partial

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.open_session import (
    NO_MODEL,
    Scratch,
    SessionModels,
    build_client,
    check_folder,
    choose_model,
    describe_model,
    model_keys,
    open_core,
    open_session,
    prepare,
    ready_model,
    resume_or_fork,
    start_warnings,
    store_typed_key,
)
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.bootstrap.setup import Setup
from coder_tui.bootstrap.undo import start_pruning
from coder_tui.llm.catalog import CatalogEntry, available_models
from coder_tui.llm.client import ModelClient
from coder_tui.llm.demo import DEMO_MODEL
from coder_tui.llm.host_client import HostClient
from coder_tui.llm.keys import ModelKeys
from coder_tui.llm.providers import provider_of
from coder_tui.protocol.errors import NoModelError, StorageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.store import Hit, SessionInfo
from coder_tui.tasks import BackgroundTasks


class SharedClients:
    """One client for all sessions with equal settings: each process has litellm, large and slow to load."""

    def __init__(self) -> None:
        self._lent: list[HostClient] = []

    def share(self, client: ModelClient) -> ModelClient:
        if not isinstance(client, HostClient):
            return client
        for known in self._lent:
            if known.does_the_same(client):
                return known
        self._lent.append(client)
        return client

    async def close(self) -> None:
        for client in self._lent:
            await client.close()


@dataclass(slots=True)
class FolderSession:
    """An open session; `close` also closes what was opened for it."""

    core: SessionFactory
    session: Session
    keeps_client: bool
    """Whether the client serves other sessions, too."""
    models: SessionModels
    _warming: "asyncio.Task[None] | None" = field(default=None)

    def warm(self) -> None:
        """Get the model ready in the background."""
        self._warming = asyncio.create_task(describe_model(self.core, self.session))

    async def close(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.wait({self._warming})
        try:
            await self.session.close()
        finally:
            await _close(self.core, keeps_client=self.keeps_client)


async def _close(core: SessionFactory, *, keeps_client: bool) -> None:
    await (core.store.close() if keeps_client else core.close())


async def open_folder(invocation: Invocation, shared: SharedClients | None = None) -> FolderSession:
    """Open a session; raise `UserError` if that fails. Warnings become notices of the session."""
    setup = await asyncio.to_thread(prepare, invocation)
    keys = model_keys(setup)
    choice = await choose_model(setup.settings, keys)
    if choice is None:
        raise NoModelError(NO_MODEL)
    client = build_client(setup, choice, keys)
    core = await open_core(setup, choice, shared.share(client) if shared else client)
    try:
        session = await open_session(core, invocation)
    except UserError:
        await _close(core, keeps_client=shared is not None)
        raise
    for warning in (*start_warnings(setup), *keys.warnings):
        session.notice(NoticeLevel.WARNING, warning)
    return FolderSession(core, session, shared is not None, SessionModels(core, session, keys))


MOST = 500


class SessionLibrary:
    """The stored sessions and the models of a front end. The core is closed with the last open session."""

    def __init__(self, core: SessionFactory, session: Session, keys: ModelKeys) -> None:
        self._core = core
        self._keys = keys
        self._first = core.choice
        self._session = session
        session.on_close(partial(self._closed, session))

    async def sessions(self, *, everywhere: bool) -> tuple[SessionInfo, ...]:
        """List the sessions that have messages, and the one that is open."""
        infos = await self._core.store.sessions.list(self._folder(everywhere), MOST, only_used=True)
        if any(info.id == self._session.id for info in infos):
            return infos
        return (await self._core.store.sessions.get(self._session.id), *infos)

    async def search(self, words: str, *, everywhere: bool) -> tuple[Hit, ...]:
        return await self._core.store.search.find(words, self._folder(everywhere), MOST)

    async def open_elsewhere(self) -> frozenset[str]:
        return await self._core.store.sessions.claimed_elsewhere()

    async def rename(self, session_id: str, title: str) -> None:
        if session_id == self._session.id:
            await self._session.rename(title)
        else:
            await self._core.store.sessions.rename(session_id, title)

    async def delete(self, session_id: str) -> None:
        await self._core.store.trash.discard(session_id)

    async def restore(self, *, everywhere: bool) -> SessionInfo:
        deleted = await self._core.store.trash.list(self._folder(everywhere), 1)
        if not deleted:
            raise UserError("There is no deleted session to restore.")
        return await self._core.store.trash.restore(deleted[0].info.id)

    async def open(self, session_id: str) -> Session:
        session = await (self._resumed(session_id) if session_id else self._core.new_session())
        old, self._session = self._session, session
        session.on_close(partial(self._closed, session))
        session.set_context_window(old.report.usage.context_window)
        try:
            await old.close()
        except StorageError as error:
            session.notice(NoticeLevel.WARNING, f"The previous session could not be closed: {error}.")
        return session

    async def models(self, *, looks_around: bool) -> tuple[CatalogEntry, ...]:
        """List models; `looks_around` also asks the keyring and local servers, which takes longer."""
        if looks_around:
            await self._keys.complete()
        return await available_models(self._keys.environment, probe=looks_around)

    async def use_model(self, name: str) -> None:
        choice = self._first.switched_to(name)
        is_free = not self._session.is_busy
        window = await ready_model(self._core.client, self._keys, choice, may_restart=is_free)
        self._core.choice = choice
        self._session.set_model(choice, window)

    async def keep_key(self, model: str, key: str) -> str:
        provider = provider_of(model)
        if provider is None:
            raise UserError(f"{model} needs no key that is known here.")
        return await store_typed_key(self._keys, provider, key)

    async def _resumed(self, session_id: str) -> Session:
        info = await self._core.store.sessions.get(session_id)
        if info.id == self._session.id:
            raise UserError("This session is open already.")
        check_folder(info, self._core.setup)
        return await resume_or_fork(self._core, info.id)

    def _folder(self, everywhere: bool) -> str | None:
        return None if everywhere else str(self._core.setup.directory)

    async def _closed(self, session: Session) -> None:
        if session is self._session:
            await self._core.close()


DEMO = "This is the built-in demo on a scratch project: say anything to start."
WITHOUT_MODEL = (
    f"No model key and no local server found. {DEMO} Your own folder is not touched. "
    "'coder-tui models' shows what to set for a real model."
)
NOT_KEPT = "the demo stores no sessions, so there is none to resume: leave that flag out"


@dataclass(slots=True)
class Prepared:
    """What is known before anything is open; `choice` is None if there is no model yet."""

    setup: Setup
    keys: ModelKeys
    choice: ModelChoice | None


class SessionOpener:
    """Opens sessions for the screen and the plain front end, after the first paint."""

    def __init__(self, invocation: Invocation, *, is_demo: bool) -> None:
        self.invocation = invocation
        self._is_demo = is_demo
        self._scratch: Scratch | None = None
        self._core: SessionFactory | None = None
        self._found: Prepared | None = None
        self.library: SessionLibrary | None = None
        self._background = BackgroundTasks()

    async def find(self) -> Prepared:
        """Find settings, keys and the model; settings are read only once."""
        if self._found is None:
            setup = await asyncio.to_thread(prepare, self.invocation)
            self._found = Prepared(setup, model_keys(setup), None)
        found = self._found
        if not self._is_demo and found.choice is None:
            found.choice = await choose_model(found.setup.settings, found.keys)
        return found

    async def open(self) -> Session:
        found = await self.find()
        setup, choice = found.setup, found.choice
        if choice is None or choice.name == DEMO_MODEL:
            setup = await asyncio.to_thread(self._into_scratch, setup, NOT_KEPT if choice else NO_MODEL)
            choice = ModelChoice(DEMO_MODEL)
        self._core = await open_core(setup, choice, build_client(setup, choice, found.keys))
        try:
            session = await open_session(self._core, self.invocation, forks=True)
        except UserError:
            await self._core.close()
            raise
        start_pruning(setup, session)
        self.library = SessionLibrary(self._core, session, found.keys)
        self._announce(session, setup, found.keys)
        self._background.start(self._describe(self._core, session))
        return session

    def clean_up(self) -> None:
        if self._scratch is not None:
            self._scratch.remove()

    def _into_scratch(self, setup: Setup, objection: str) -> Setup:
        if self.invocation.resume or self.invocation.is_continued:
            raise UserError(objection)
        self._scratch = Scratch.create()
        return self._scratch.setup(setup)

    def _announce(self, session: Session, setup: Setup, keys: ModelKeys) -> None:
        for warning in (*start_warnings(setup), *keys.warnings):
            session.notice(NoticeLevel.WARNING, warning)
        if self._scratch is not None:
            is_wanted = self._is_demo or setup.settings.model.name == DEMO_MODEL
            session.notice(NoticeLevel.INFO, DEMO if is_wanted else WITHOUT_MODEL)

    async def _describe(self, core: SessionFactory, session: Session) -> None:
        await describe_model(core, session)
        # After the model, which is needed first.
        if not core.setup.is_scratch:
            await session.lookup.warm()
