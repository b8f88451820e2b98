"""Keys that come before there is something to deal with them keep their order, and none is lost."""

import asyncio
from pathlib import Path

from textual import events

from coder_tui.ui.app import CoderApp
from coder_tui.ui.keymap import TypeAhead, Typed
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for

ENTER = events.Key("enter", "\r")
PASTE = events.Paste("pasted")


def letter(character: str) -> events.Key:
    return events.Key(character, character)


class Taker:
    """Takes what is not kept, as the app does."""

    def __init__(self) -> None:
        self.keys = TypeAhead(self.offer)
        self.taken: list[str] = []

    async def offer(self, event: Typed) -> None:
        if not self.keys.keeps(event):
            self.taken.append(event.text if isinstance(event, events.Paste) else event.key)


async def test_everything_waits_at_first_and_comes_in_order() -> None:
    taker = Taker()
    for event in (letter("a"), ENTER, PASTE, letter("b")):
        await taker.offer(event)
    assert taker.taken == []
    await taker.keys.release_all()
    assert taker.taken == ["a", "enter", "pasted", "b"]


async def test_letters_go_through_until_something_else_waits() -> None:
    taker = Taker()
    for event in (letter("a"), letter("b"), ENTER, letter("c")):
        await taker.offer(event)
    await taker.keys.release_letters()
    assert taker.taken == ["a", "b"]
    await taker.offer(letter("d"))
    assert taker.taken == ["a", "b"]
    await taker.keys.release_all()
    assert taker.taken == ["a", "b", "enter", "c", "d"]


async def test_what_is_held_again_keeps_letters_too() -> None:
    taker = Taker()
    await taker.keys.release_all()
    taker.keys.hold()
    await taker.offer(letter("a"))
    assert taker.taken == []
    await taker.keys.release_all()
    assert taker.taken == ["a"]


async def test_what_is_typed_while_keys_are_released_comes_after_them() -> None:
    """The release may run in another task than the keys, as when the screen changes to another session."""
    taker = Taker()

    async def slow(event: Typed) -> None:
        await asyncio.sleep(0)
        await taker.offer(event)

    taker.keys = TypeAhead(slow)
    for event in (letter("a"), letter("b")):
        assert taker.keys.keeps(event)
    release = asyncio.create_task(taker.keys.release_all())
    await asyncio.sleep(0)
    await taker.offer(letter("c"))
    await release
    await taker.offer(letter("d"))
    assert taker.taken == ["a", "b", "c", "d"]


async def test_a_key_that_holds_the_others_again_keeps_them_for_the_next_release() -> None:
    taken: list[str] = []

    async def offer(event: Typed) -> None:
        assert isinstance(event, events.Key)
        taken.append(event.key)
        if event.key == "enter":
            keys.hold()

    keys = TypeAhead(offer)
    for event in (letter("a"), ENTER, letter("b")):
        assert keys.keeps(event)
    await keys.release_all()
    assert taken == ["a", "enter"]
    assert keys.keeps(letter("c"))
    await keys.release_all()
    assert taken == ["a", "enter", "b", "c"]


async def test_a_message_typed_and_sent_before_the_screen_is_there_reaches_the_session() -> None:
    session = FakeSession(Path("/srv/project"))
    app = CoderApp(launch_for(session))
    for event in (letter("h"), letter("i"), ENTER, letter("x")):
        assert app.early_keys.keeps(event)
    async with app.run_test() as pilot:
        running = Stage(app, pilot, session)
        await running.until(lambda: running.draft == "x" and bool(session.submitted))
        assert session.submitted == ["hi"]


async def test_a_command_begun_early_gets_its_suggestions() -> None:
    session = FakeSession(Path("/srv/project"))
    app = CoderApp(launch_for(session))
    assert app.early_keys.keeps(events.Key("slash", "/"))
    async with app.run_test() as pilot:
        running = Stage(app, pilot, session)
        await running.shows("/help")
