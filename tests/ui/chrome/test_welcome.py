"""An empty session says how to begin, until it has begun."""

from dataclasses import replace

from coder_tui.protocol.events import UserMessageAdded
from coder_tui.ui.chrome.banners import SAYING
from coder_tui.ui.key_settings import key_map
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import launch_for, stage


async def test_an_empty_session_says_how_to_begin_until_a_message_is_sent() -> None:
    async with stage(size=(80, 24)) as s:
        await s.until(lambda: SAYING in s.drawn())
        await s.shows("coder-tui  /srv/project")
        await s.pilot.press(*"hello", "enter")
        await s.until(lambda: SAYING not in s.drawn() and "hello" in s.drawn())


async def test_a_session_with_messages_shows_no_welcome() -> None:
    async with stage(FakeSession(earlier=(UserMessageAdded("u1", "hello"),))) as s:
        await s.shows("hello")
        assert SAYING not in s.drawn()


async def test_the_keys_are_those_of_the_user() -> None:
    session = FakeSession()
    launch = replace(launch_for(session), keys=key_map({"app.help": "f9"}))
    async with stage(session, launch=launch) as s:
        await s.shows("F9")
