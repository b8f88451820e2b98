"""Timers: few, and none when nothing is under way."""

import pytest
from textual.app import App

from coder_tui.ui import motion
from coder_tui.ui.motion import Pacer, SecondHand


async def test_many_requests_make_one_drawing() -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        drawings: list[int] = []

        def draw() -> bool:
            drawings.append(1)
            return False

        pacer = Pacer(app, draw)
        for _ in range(1000):
            pacer.request()
        while pacer.is_pending:
            await pilot.pause()
        assert drawings == [1]


async def test_the_first_request_after_a_pause_does_not_wait_for_a_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(motion, "FRAME", 3600.0)
    monkeypatch.setattr(motion, "LONGEST_WAIT", 3600.0)
    app = App[None]()
    async with app.run_test() as pilot:
        left = [False, False]
        pacer = Pacer(app, left.pop)
        pacer.request()
        while pacer.is_pending:
            await pilot.pause()
        pacer.request()
        await pilot.pause()
        assert (left, pacer.is_pending) == ([False], True)


async def test_a_drawing_that_is_not_done_comes_again() -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        left = [True, True, False]
        pacer = Pacer(app, lambda: left.pop(0))
        pacer.request()
        while pacer.is_pending:
            await pilot.pause()
        assert left == []


async def test_a_cancelled_request_draws_nothing() -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        drawings: list[int] = []

        def draw() -> bool:
            drawings.append(1)
            return False

        cancelled, other = Pacer(app, draw), Pacer(app, lambda: False)
        cancelled.request()
        cancelled.cancel()
        other.request()
        while other.is_pending:
            await pilot.pause()
        assert drawings == []


async def test_the_second_hand_ticks_only_between_start_and_stop() -> None:
    app = App[None]()
    async with app.run_test():
        hand = SecondHand(app, lambda: None)
        states = [hand.is_ticking]
        hand.start()
        states.append(hand.is_ticking)
        hand.stop()
        states.append(hand.is_ticking)
        assert states == [False, True, False]
