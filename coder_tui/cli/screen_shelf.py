"""Stored sessions and models for the screen, on top of an open core."""

from dataclasses import replace
from functools import partial

from coder_tui.agent.session import Session
from coder_tui.bootstrap import Core
from coder_tui.bootstrap.forks import resume_or_fork
from coder_tui.cli.keeping_keys import keep_typed_key
from coder_tui.cli.model_choice import choice_of, ready_model
from coder_tui.cli.session_place import check_place
from coder_tui.llm.catalog import CatalogEntry, available_models
from coder_tui.llm.model_keys import ModelKeys
from coder_tui.llm.providers import provider_of
from coder_tui.protocol.errors import StorageError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.sessions import Hit, SessionInfo

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
