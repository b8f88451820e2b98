"""Typed words are kept while they are typed, and come back."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from coder_tui.protocol.events import SessionRenamed, UserMessageAdded
from coder_tui.storage.drafts import Place, Unsent, UnsentFiles
from coder_tui.ui.exit import NOT_KEPT
from coder_tui.ui.session.drafts import BACK
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, stage

PLACE = Place("s-1", Path("/srv/project"), is_begun=False)


@asynccontextmanager
async def keeping(folder: Path, session: FakeSession | None = None) -> AsyncIterator[Stage]:
    session = session or FakeSession()
    async with stage(session, launch=replace(launch_for(session), unsent=folder)) as s:
        await s.until(s.screen.furniture.unsent.is_restored.is_set)
        yield s


def kept(folder: Path) -> Unsent:
    try:
        told = json.loads((folder / "s-1.json").read_text())
    except FileNotFoundError:
        return Unsent()
    return Unsent(tuple(told["waiting"]), told["draft"])


async def test_a_draft_and_messages_that_wait_are_kept_until_they_are_stored(tmp_path: Path) -> None:
    async with keeping(tmp_path) as s:
        await s.pilot.press(*"go", "enter", *"later", "enter", *"more")
        await s.until(lambda: kept(tmp_path) == Unsent(("later",), "more"))
        s.session.emit(UserMessageAdded("m1", "later"))
        await s.until(lambda: kept(tmp_path) == Unsent((), "more"))
        await s.pilot.press("ctrl+u")
        await s.until(lambda: kept(tmp_path) == Unsent())


async def test_what_was_left_stands_in_the_prompt_again(tmp_path: Path) -> None:
    UnsentFiles(tmp_path).save(PLACE, Unsent(("waited",), "half a"))
    async with keeping(tmp_path) as s:
        await s.until(lambda: s.draft == "waited\nhalf a" and BACK in s.drawn())
        assert s.session.submitted == []


async def test_leaving_writes_down_what_was_typed_just_now(tmp_path: Path) -> None:
    async with keeping(tmp_path) as s:
        await s.pilot.press(*"wait")
        await s.app.departure.leave(0)
    assert kept(tmp_path) == Unsent((), "wait")


async def test_a_session_that_nothing_keeps_says_so_when_it_is_left(tmp_path: Path) -> None:
    session = FakeSession()
    session.is_kept = False
    async with keeping(tmp_path, session) as s:
        s.session.emit(SessionRenamed("mend it"))
        await s.pilot.press(*"more")
        farewell = await s.app.departure._farewell()
        await s.app.departure.leave(0)
    assert farewell is not None
    assert (farewell.plain, kept(tmp_path)) == (NOT_KEPT, Unsent())
