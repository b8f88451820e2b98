"""An error on the screen costs what it interrupted, and not the session."""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from coder_tui.protocol.events import TextDelta, TurnStarted
from coder_tui.ui.exit import LAYOUTS, LOOPS, ScreenErrors
from coder_tui.ui.keymap import KeyFirstScreen
from coder_tui.ui.keys import Context
from coder_tui.ui.transcript.scroll import TranscriptView
from tests.fakes.screens import Stage, stage

LINE = "Something went wrong on the screen: RuntimeError: boom"


class Poke(Message):
    pass


class Broken(Widget):
    """Does what it can, and fails at what a test asks for."""

    DEFAULT_CSS = "Broken { height: 1; }"
    pokes = 0
    is_looping = draws = lays_out = True

    def on_poke(self) -> None:
        self.pokes += 1
        if self.is_looping:
            self.post_message(Poke())
        self.boom()

    def boom(self) -> None:
        raise RuntimeError("boom sk-ant-abcdefgh0123456789")

    async def work(self) -> None:
        self.boom()

    def render_line(self, y: int) -> Strip:
        if not self.draws:
            self.boom()
        return Strip.blank(self.size.width)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        if not self.lays_out:
            self.boom()
        return 1


class Stuck(KeyFirstScreen, ModalScreen[None]):
    help_context = Context.GLOBAL

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        raise RuntimeError("boom")


async def broken(s: Stage) -> Broken:
    widget = Broken()
    widget.is_looping = False
    await s.screen.mount(widget, before=s.screen.status)
    return widget


async def goes_on(s: Stage) -> None:
    """The draft is there, keys still arrive, and there is one line about what happened."""
    await s.until(lambda: LINE in s.drawn())
    await s.pilot.press(*" more")
    assert (s.draft, s.drawn().count(LINE), s.app.return_code) == ("a draft more", 1, None)
    # Otherwise a headless run raises it at its end.
    assert isinstance(s.app._exception, Exception)
    s.app._exception = None


FAILURES: dict[str, Callable[[Broken], object]] = {
    "handler": lambda widget: [widget.post_message(Poke()) for _ in range(3)],
    "timer": lambda widget: widget.set_timer(0.001, widget.boom),
    "worker": lambda widget: widget.run_worker(widget.work()),
    "callback": lambda widget: widget.call_after_refresh(widget.boom),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_session_goes_on_after_an_error(failure: str, caplog: pytest.LogCaptureFixture) -> None:
    async with stage() as s:
        widget = await broken(s)
        await s.pilot.press(*"a draft")
        FAILURES[failure](widget)
        await goes_on(s)
        assert widget.pokes == (3 if failure == "handler" else 0)
        assert "abcdefgh" not in s.drawn()
    logged = [record.exc_info for record in caplog.records if record.name == "coder_tui.ui.exit"]
    assert [type(each and each[1]) for each in logged] == [RuntimeError]


async def test_a_widget_that_cannot_be_drawn_leaves_the_others_and_is_drawn_again_if_it_can_be() -> None:
    async with stage() as s:
        widget = await broken(s)
        await s.pilot.press(*"a draft")
        widget.draws = False
        widget.refresh()
        await goes_on(s)
        await s.shows("This part cannot be drawn: RuntimeError")
        widget.draws = True
        assert "cannot be drawn" not in s.drawn()
        s.app._exception = None


async def test_a_turn_goes_on_if_its_text_cannot_be_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def boom(message_id: str, text: str) -> None:
        raise RuntimeError("boom")

    async with stage() as s:
        await s.pilot.press(*"a draft")
        monkeypatch.setattr(s.screen.transcript, "stream_text", boom)
        s.session.emit(TurnStarted(1))
        s.session.emit(TextDelta("m1", "hi"))
        await goes_on(s)


async def test_escape_closes_a_dialog_that_fails_at_every_key() -> None:
    async with stage() as s:
        await s.pilot.press(*"a draft")
        s.app.push_screen(Stuck())
        await s.pilot.press("x", "escape")
        await s.until(lambda: s.app.screen is s.screen)
        await goes_on(s)


async def test_the_third_ctrl_c_that_fails_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    async def boom(event: events.Key) -> bool:
        raise RuntimeError("boom")

    async with stage() as s:
        monkeypatch.setattr(s.screen, "handle_input", boom)
        await s.pilot.press("ctrl+c", "ctrl+c")
        assert s.app.return_code is None
        await s.pilot.press("ctrl+c")
        await s.until(lambda: s.app.return_code == 0)
        s.app._exception = None


def _loop(widget: Broken) -> None:
    widget.is_looping = True
    widget.post_message(Poke())


def _lay_out(widget: Broken) -> None:
    widget.lays_out = False
    widget.styles.width = "auto"
    widget.set_interval(0.001, lambda: widget.refresh(layout=True))


def _lay_out_all(widget: Broken) -> None:
    """Widgets within others ask for a layout, and after it failed the outer ones."""
    vars(widget.screen._compositor)["reflow"] = lambda *_: widget.boom()
    transcript = widget.screen.query_one(TranscriptView)
    transcript.children[0].refresh(layout=True)
    widget.set_interval(0.01, partial(transcript.refresh, layout=True))


@pytest.mark.parametrize("failure", [_loop, _lay_out, _lay_out_all])
async def test_an_error_without_end_ends_the_program_with_one_report(
    failure: Callable[[Broken], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RuntimeError, match="boom"):
        async with stage() as s:
            failure(await broken(s))
            # Standard error is the screen's until then.
            await s.until(lambda: s.app._task is not None and s.app._task.done())
    printed = capsys.readouterr().err
    assert (printed.count("coder-tui: internal error, see above"), "errors shown" in printed) == (1, False)


@pytest.mark.parametrize(("seconds", "is_endless"), [(0.009, True), (0.02, False)])
def test_only_what_repeats_faster_than_keys_and_frames_is_endless(seconds: float, is_endless: bool) -> None:
    now = 0.0
    errors = ScreenErrors(lambda: now)
    for _ in range(LOOPS * 3):
        now += seconds
        try:
            raise RuntimeError("boom")
        except RuntimeError as error:
            errors.add(error)
    assert (errors.is_endless, LAYOUTS < LOOPS) == (is_endless, True)


_EDITS = (
    *("enter", "backspace", "delete", "up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
    *("ctrl+underscore", "ctrl+y", "ctrl+a", "ctrl+e", "ctrl+w", "ctrl+u", "ctrl+k", "ctrl+x", "ctrl+v"),
    *("shift+up", "shift+down", "shift+left", "shift+home", "ctrl+shift+left", "ctrl+right", "f7"),
    *("escape", "ctrl+r", "ctrl+c"),
)


def _any_input(chance: Random) -> events.Key | events.Paste:
    lines = ("word " * chance.randrange(30) for _ in range(chance.randrange(30)))
    letter = chance.choice("abc(@\\\u754c")
    return chance.choices(
        (
            events.Paste("\n".join(lines)),
            events.Key(letter, letter),
            events.Key("ctrl+j", None),
            events.Key("ctrl+underscore", None),
            events.Key(chance.choice(_EDITS), None),
        ),
        (2, 48, 20, 10, 20),
    )[0]


async def test_no_keys_in_the_prompt_end_the_program_or_fail() -> None:
    chance = Random(7)
    async with stage(size=(80, 24)) as s:
        for count in range(1200):
            s.app.post_message(_any_input(chance))
            if count % 100 == 0:
                await s.pilot.pause()
        await s.pilot.pause()
        assert (s.app.screen, s.app.return_code, s.app._exception) == (s.screen, None, None)
