"""The screen's core: opened after the first paint, with the demo where no model is to be had.

Stored sessions and models for the screen, on top of an open core.
"""

import asyncio
from dataclasses import dataclass, replace
from functools import partial

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.invocation import Invocation
from coder_tui.bootstrap.models import choice_of, keep_typed_key, ready_model
from coder_tui.bootstrap.open_session import (
    NO_MODEL,
    Scratch,
    check_place,
    choose_model,
    describe_model,
    model_keys,
    open_core,
    open_session,
    prepare,
    resume_or_fork,
    start_warnings,
)
from coder_tui.bootstrap.pruning import prune_beside
from coder_tui.bootstrap.session_factory import Core
from coder_tui.bootstrap.setup import Setup
from coder_tui.llm.catalog import CatalogEntry, available_models
from coder_tui.llm.demo import DEMO_MODEL
from coder_tui.llm.keys import ModelKeys
from coder_tui.llm.providers import provider_of
from coder_tui.protocol.errors import ModelError, StorageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.store import Hit, SessionInfo

MOST = 500


class CoreShelf:
    """The core is closed with the session that is open then; one that was left does not take it along."""

    def __init__(self, core: Core, session: Session, keys: ModelKeys) -> None:
        self._core = core
        self._keys = keys
        self._first = core.choice
        self._session = session
        session.on_close(partial(self._closed, session))

    async def sessions(self, *, everywhere: bool) -> tuple[SessionInfo, ...]:
        """Without those in which nothing was ever said, but for the one that is open."""
        infos = await self._core.store.list_sessions(self._folder(everywhere), MOST, only_used=True)
        if any(info.id == self._session.id for info in infos):
            return infos
        return (await self._core.store.get(self._session.id), *infos)

    async def search(self, words: str, *, everywhere: bool) -> tuple[Hit, ...]:
        return await self._core.store.search(words, self._folder(everywhere), MOST)

    async def open_elsewhere(self) -> frozenset[str]:
        return await self._core.store.claimed_elsewhere()

    async def rename(self, session_id: str, title: str) -> None:
        if session_id == self._session.id:
            await self._session.rename(title)
        else:
            await self._core.store.rename(session_id, title)

    async def delete(self, session_id: str) -> None:
        await self._core.store.discard(session_id)

    async def restore(self, *, everywhere: bool) -> SessionInfo:
        deleted = await self._core.store.trashed(self._folder(everywhere), 1)
        if not deleted:
            raise UserError("There is no deleted session to bring back.")
        return await self._core.store.restore(deleted[0].info.id)

    async def open(self, session_id: str) -> Session:
        session = await (self._resumed(session_id) if session_id else self._core.new_session())
        old, self._session = self._session, session
        session.on_close(partial(self._closed, session))
        session.set_context_window(old.facts.usage.context_window)
        try:
            await old.close()
        except StorageError as error:
            session.notice(NoticeLevel.WARNING, f"The session before could not be closed: {error}.")
        return session

    async def models(self, *, looks_around: bool) -> tuple[CatalogEntry, ...]:
        """Looking around also asks the keyring: the list is there before that answers."""
        if looks_around:
            await self._keys.complete()
        return await available_models(self._keys.environment, probe=looks_around)

    async def use_model(self, name: str) -> None:
        choice = choice_of(self._first, name)
        is_free = not self._session.is_busy
        window = await ready_model(self._core.client, self._keys, choice, may_restart=is_free)
        self._core = replace(self._core, choice=choice)
        self._session.set_model(choice, window)

    async def keep_key(self, model: str, key: str) -> str:
        provider = provider_of(model)
        if provider is None:
            raise UserError(f"{model} needs no key that is known here.")
        return await keep_typed_key(self._keys, provider, key)

    async def _resumed(self, session_id: str) -> Session:
        info = await self._core.store.get(session_id)
        if info.id == self._session.id:
            raise UserError("This session is open already.")
        check_place(info, self._core.setup)
        return await resume_or_fork(self._core, info.id)

    def _folder(self, everywhere: bool) -> str | None:
        return None if everywhere else str(self._core.setup.directory)

    async def _closed(self, session: Session) -> None:
        if session is self._session:
            await self._core.close()


DEMO = "This is the built-in demo on a scratch project: say anything to start."
WITHOUT_MODEL = (
    f"No model key and no local server found. {DEMO} Your own folder is not touched. "
    "'coder-tui models' tells what to set for a real model."
)
NOT_KEPT = "the demo keeps no sessions, so there is none to go on with: leave that flag out"


@dataclass(slots=True)
class Found:
    """What is known before anything is open; `choice` is None where there is no model yet."""

    setup: Setup
    keys: ModelKeys
    choice: ModelChoice | None


class ScreenCore:
    def __init__(self, invocation: Invocation, *, is_demo: bool) -> None:
        self.invocation = invocation
        self._is_demo = is_demo
        self._scratch: Scratch | None = None
        self._core: Core | None = None
        self._found: Found | None = None
        self.shelf: CoreShelf | None = None
        self._background: set[asyncio.Task[None]] = set()

    async def find(self) -> "Found":
        """Settings, keys and the model; what was found before is only looked at again."""
        if self._found is None:
            setup = await asyncio.to_thread(prepare, self.invocation)
            self._found = Found(setup, model_keys(setup), None)
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
        self._core = await open_core(setup, choice, found.keys)
        try:
            session = await open_session(self._core, self.invocation, forks=True)
        except UserError:
            await self._core.close()
            raise
        prune_beside(self._core, session)
        self.shelf = CoreShelf(self._core, session, found.keys)
        self._announce(session, setup, found.keys)
        task = asyncio.create_task(self._describe(self._core, session))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
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

    async def _describe(self, core: Core, session: Session) -> None:
        try:
            await describe_model(core, session)
        except ModelError as error:
            session.notice(NoticeLevel.WARNING, str(error))
        # After the model, which is needed first.
        if not core.setup.is_scratch:
            await session.lookup.warm()
