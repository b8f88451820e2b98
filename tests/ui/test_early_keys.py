"""Keys that come before there is something to deal with them keep their order, and none is lost."""

from pathlib import Path

from textual import events

from coder_tui.ui.app import CoderApp
from coder_tui.ui.startup import EarlyKeys, Typed
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for

ENTER = events.Key("enter", "\r")
PASTE = events.Paste("pasted")


def letter(character: str) -> events.Key:
    return events.Key(character, character)


class Taker:
    """Takes what is not kept, as the app does."""

    def __init__(self) -> None:
        self.keys = EarlyKeys(self.offer)
        self.taken: list[str] = []

    async def offer(self, event: Typed) -> None:
        if not self.keys.keeps(event):
            self.taken.append(event.text if isinstance(event, events.Paste) else event.key)


async def test_everything_waits_at_first_and_comes_in_order() -> None:
    taker = Taker()
    for event in (letter("a"), ENTER, PASTE, letter("b")):
        await taker.offer(event)
    assert taker.taken == []
    await taker.keys.let_all()
    assert taker.taken == ["a", "enter", "pasted", "b"]


async def test_letters_go_through_until_something_else_waits() -> None:
    taker = Taker()
    for event in (letter("a"), letter("b"), ENTER, letter("c")):
        await taker.offer(event)
    await taker.keys.let_letters()
    assert taker.taken == ["a", "b"]
    await taker.offer(letter("d"))
    assert taker.taken == ["a", "b"]
    await taker.keys.let_all()
    assert taker.taken == ["a", "b", "enter", "c", "d"]


async def test_what_is_held_again_keeps_letters_too() -> None:
    taker = Taker()
    await taker.keys.let_all()
    taker.keys.hold()
    await taker.offer(letter("a"))
    assert taker.taken == []
    await taker.keys.let_all()
    assert taker.taken == ["a"]


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
        await running.until(lambda: "/help" in running.drawn())
