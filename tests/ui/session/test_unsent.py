"""Typed words are kept while they are typed, and come back."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from coder_tui.protocol.events import SessionRenamed, UserMessageAdded
from coder_tui.storage.drafts import DraftStore, Place, UnsentInput
from coder_tui.ui.exit import NOT_KEPT
from coder_tui.ui.session.sender import RESTORED
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage

PLACE = Place("s-1", Path("/srv/project"), is_begun=False)


@asynccontextmanager
async def keeping(folder: Path, session: FakeSession | None = None) -> AsyncIterator[Stage]:
    session = session or FakeSession()
    async with stage(session, launch=replace(launch_for(session), drafts=folder)) as s:
        await s.until(s.screen.widgets.drafts.is_restored.is_set)
        yield s


def kept(folder: Path) -> UnsentInput:
    try:
        saved = json.loads((folder / "s-1.json").read_text())
    except FileNotFoundError:
        return UnsentInput()
    return UnsentInput(tuple(saved["waiting"]), saved["draft"])


async def test_a_draft_and_waiting_messages_are_saved_until_they_are_stored(tmp_path: Path) -> None:
    async with keeping(tmp_path) as s:
        await s.pilot.press(*"go", "enter", *"later", "enter", *"more")
        await s.until(lambda: kept(tmp_path) == UnsentInput(("later",), "more"))
        s.session.emit(UserMessageAdded("m1", "later"))
        await s.until(lambda: kept(tmp_path) == UnsentInput((), "more"))
        await s.pilot.press("ctrl+u")
        await s.until(lambda: kept(tmp_path) == UnsentInput())


async def test_unsent_text_is_restored_into_the_prompt(tmp_path: Path) -> None:
    DraftStore(tmp_path).save(PLACE, UnsentInput(("waited",), "half a"))
    async with keeping(tmp_path) as s:
        await s.until(lambda: s.draft == "waited\nhalf a" and RESTORED in s.drawn())
        assert s.session.submitted == []


async def test_leaving_saves_what_was_just_typed(tmp_path: Path) -> None:
    async with keeping(tmp_path) as s:
        await s.pilot.press(*"wait")
        await s.app.app_exit.leave(0)
    assert kept(tmp_path) == UnsentInput((), "wait")


async def test_leaving_a_demo_says_that_it_is_deleted(tmp_path: Path) -> None:
    session = FakeSession()
    session.is_kept = False
    async with keeping(tmp_path, session) as s:
        s.session.emit(SessionRenamed("fix it"))
        await s.pilot.press(*"more")
        exit_summary = await s.app.app_exit._summary()
        await s.app.app_exit.leave(0)
    assert exit_summary is not None
    assert (exit_summary.plain, kept(tmp_path)) == (NOT_KEPT, UnsentInput())
