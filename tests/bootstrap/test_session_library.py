"""Sessions and models of the screen on a real store, with the demo's model."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.open_session import open_core
from coder_tui.bootstrap.prepare import load_setup
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.bootstrap.session_library import SessionLibrary
from coder_tui.config.paths import Directories
from coder_tui.config.sources import Sources
from coder_tui.llm.demo import DEMO_MODEL, DemoClient
from coder_tui.llm.keys import ModelKeys
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import StorageError, UserError
from coder_tui.protocol.messages import UserMessage
from coder_tui.storage.store import Store
from tests.fakes.keyrings import FakeKeyring, NoKeyring


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[tuple[SessionLibrary, SessionFactory, Session]]:
    directories = Directories(*(tmp_path / name for name in ("config", "data", "cache", "log")))
    folder = tmp_path / "project"
    folder.mkdir()
    setup = load_setup(folder, directories, Sources(), {})
    keys = ModelKeys({}, FakeKeyring())
    core = await open_core(setup, ModelChoice(DEMO_MODEL), DemoClient())
    session = await core.new_session()
    yield SessionLibrary(core, session, keys), core, session


async def reported(core: SessionFactory, session_id: str) -> None:
    await core.store.messages.add(session_id, UserMessage("u1", "hello"))


async def test_sessions_without_a_word_are_not_listed_but_for_the_open_one(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, core, session):
        silent = await core.store.sessions.create(str(core.setup.directory), "demo", Mode.ASK)
        here = await core.store.sessions.create(str(core.setup.directory), "demo", Mode.ASK)
        far = await core.store.sessions.create("/elsewhere", "demo", Mode.ASK)
        for id in (here.id, far.id):
            await reported(core, id)
        assert {info.id for info in await known.sessions(everywhere=False)} == {session.id, here.id}
        assert {info.id for info in await known.sessions(everywhere=True)} == {session.id, here.id, far.id}
        assert silent.id not in {info.id for info in await known.sessions(everywhere=True)}
        await session.close()


async def test_another_session_opens_and_the_store_stays_open_until_that_one_closes(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, core, session):
        await reported(core, session.id)
        second = await known.open("")
        back = await known.open(session.id)
        assert (back.id, second.id != back.id) == (session.id, True)
        assert await core.store.sessions.claim(second.id)
        await back.close()
        with pytest.raises(StorageError):
            await core.store.sessions.get(session.id)


async def test_what_cannot_be_opened_is_reported_and_the_present_session_stays(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, core, session):
        gone = await core.store.sessions.create("/elsewhere", "demo", Mode.ASK)
        with pytest.raises(
            UserError, match=f"belongs to /elsewhere, which .* sessions show {gone.id}' prints"
        ):
            await known.open(gone.id)
        far = await core.store.sessions.create(str(tmp_path), "demo", Mode.ASK)
        with pytest.raises(UserError, match=f"to go on with it: coder-tui --resume {far.id} {tmp_path}"):
            await known.open(far.id)
        with pytest.raises(UserError, match="open already"):
            await known.open(session.id)
        with pytest.raises(UserError, match="no session"):
            await known.open("zzzz")
        await session.close()


async def test_the_open_session_hears_of_its_new_title(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, core, session):
        other = await core.store.sessions.create(str(core.setup.directory), "demo", Mode.ASK)
        await known.rename(session.id, "mine")
        await known.rename(other.id, "other")
        assert (session.title, (await core.store.sessions.get(other.id)).title) == ("mine", "other")
        await known.delete(other.id)
        with pytest.raises(StorageError):
            await core.store.sessions.get(other.id)
        assert (await known.restore(everywhere=False)).id == other.id
        with pytest.raises(UserError, match="no deleted session to restore"):
            await known.restore(everywhere=True)
        await session.close()


async def test_words_find_sessions_of_this_folder_or_of_all(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, core, session):
        far = await core.store.sessions.create("/elsewhere", "demo", Mode.ASK)
        for id in (session.id, far.id):
            await reported(core, id)
        assert [hit.info.id for hit in await known.search("hel", everywhere=False)] == [session.id]
        assert [hit.info.id for hit in await known.search("hel", everywhere=True)] == [far.id, session.id]
        await session.close()


async def test_a_session_that_is_open_elsewhere_is_opened_as_a_fork(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, core, session):
        other = await core.store.sessions.create(str(core.setup.directory), "demo", Mode.ASK)
        await reported(core, other.id)
        elsewhere = await Store.open(core.setup.directories.database)
        assert await elsewhere.sessions.claim(other.id)
        fork = await known.open(other.id)
        assert (fork.title, fork.is_kept) == ("fork of an untitled session", False)
        await fork.close()
        assert {info.id for info in await elsewhere.sessions.list()} == {session.id, other.id}
        await elsewhere.close()


async def test_what_was_deleted_long_ago_is_gone_after_the_next_start(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, core, session):
        other = await core.store.sessions.create(str(core.setup.directory), "demo", Mode.ASK)
        await known.delete(other.id)
        await (await open_core(core.setup, core.choice, DemoClient())).close()
        assert [each.info.id for each in await core.store.trash.list()] == [other.id]
        with sqlite3.connect(core.setup.directories.database) as connection:
            connection.execute("UPDATE sessions SET trashed = 1 WHERE trashed IS NOT NULL")
        await (await open_core(core.setup, core.choice, DemoClient())).close()
        assert await core.store.trash.list() == ()
        await session.close()


async def test_the_demo_keeps_its_model(tmp_path: Path) -> None:
    async with opened(tmp_path) as (known, _, session):
        with pytest.raises(UserError, match="one model only"):
            await known.use_model("openai/gpt")
        assert session.model == DEMO_MODEL
        await session.close()


def test_an_address_of_ones_own_is_not_given_to_another_provider() -> None:
    first = ModelChoice("openai/mine", "http://127.0.0.1:1/v1", "high")
    assert first.switched_to("openai/other") == replace(first, name="openai/other")
    assert first.switched_to("anthropic/claude") == ModelChoice("anthropic/claude", "", "high")


async def test_a_typed_key_goes_to_the_keyring_or_holds_for_this_run(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, core, session):
        keyring = FakeKeyring()
        keys = ModelKeys({}, keyring)
        reported = await SessionLibrary(core, session, keys).keep_key("openai/gpt", "a-key-without-shape")
        assert (reported.startswith("The key for OpenAI is in the system keyring"), keyring.keys) == (
            True,
            {"OPENAI_API_KEY": "a-key-without-shape"},
        )
        without = ModelKeys({}, NoKeyring())
        reported = await SessionLibrary(core, session, without).keep_key("openai/gpt", "a-key-without-shape")
        assert reported == (
            "The key for OpenAI applies to this run only: this machine has no system keyring. "
            "To keep it, set OPENAI_API_KEY in your shell."
        )
        assert without.environment == {"OPENAI_API_KEY": "a-key-without-shape"}
        with pytest.raises(UserError, match="too short"):
            await SessionLibrary(core, session, without).keep_key("openai/gpt", "a")
        await session.close()
