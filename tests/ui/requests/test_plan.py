"""A plan on the real screen: shown, edited, approved or refused."""

import asyncio

import pytest

from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import Editable, PlanDecision, PlanReply, Reply
from coder_tui.ui.external_editor import Edited, NotEdited, Outcome
from coder_tui.ui.glyphs import UNICODE
from coder_tui.ui.launch import AnswerKeys
from coder_tui.ui.requests.guarded_screen import Closed, DialogContext
from coder_tui.ui.requests.plan import PlanScreen
from tests.fakes.questions import PLAN, plan
from tests.fakes.screens import Stage, clock, stage


async def opened(s: Stage, text: str = PLAN) -> PlanScreen:
    s.session.emit(RequestOpened(plan(text)))
    return await ready(s)


async def ready(s: Stage) -> PlanScreen:
    await s.until(lambda: isinstance(s.app.screen, PlanScreen) and s.app.screen.is_ready)
    await s.pilot.pause()
    assert isinstance(s.app.screen, PlanScreen)
    return s.app.screen


@pytest.mark.parametrize(
    ("key", "decision"),
    [
        ("ctrl+y", PlanDecision.APPROVE),
        ("n", PlanDecision.REFUSE),
        ("alt+n", PlanDecision.REFUSE),
        ("escape", PlanDecision.CANCEL),
    ],
)
async def test_one_key_answers(key: str, decision: PlanDecision) -> None:
    async with stage() as s:
        await opened(s)
        await s.pilot.press(key)
        await s.until(lambda: s.session.answers == [("p1", PlanReply(decision))])
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, s.session.interrupts) == ("", 0)


async def test_a_refusal_can_have_a_reason() -> None:
    async with stage() as s:
        await opened(s)
        await s.pilot.press("d")
        await s.until(lambda: s.app.screen.focused is not None)
        await s.pilot.press(*"yes but test first", "enter")
        reply = PlanReply(PlanDecision.REFUSE, "yes but test first")
        await s.until(lambda: s.session.answers == [("p1", reply)])


async def test_the_plan_is_drawn_as_markdown_and_scrolls() -> None:
    async with stage(size=(80, 24)) as s:
        await opened(s, PLAN + "\n".join(f"- step {number}" for number in range(60)))
        await s.shows("1. guard the divisor")
        assert "# Make" not in s.drawn()
        assert "step 59" not in s.drawn()
        await s.pilot.press("end")
        await s.shows("step 59")


async def test_a_very_long_plan_says_how_much_is_not_drawn() -> None:
    async with stage() as s:
        await opened(s, "word " * 200_000)
        await s.pilot.press("end")
        await s.shows("… 970000 more characters. Edit the plan to see all of it.")


async def test_the_letter_y_names_the_chord() -> None:
    async with stage() as s:
        await opened(s)
        await s.pilot.press("y")
        await s.shows("Press Ctrl+Y to carry it out.")
        assert s.session.answers == []


async def test_typing_over_the_plan_goes_to_the_draft() -> None:
    async with stage() as s:
        await opened(s)
        await s.pilot.press(*"no, wait")
        await s.until(lambda: s.draft == "no, wait")
        assert s.session.answers == []


async def test_a_withdrawn_plan_closes() -> None:
    async with stage() as s:
        await opened(s)
        s.session.emit(RequestClosed("p1", None))
        await s.until(lambda: s.app.screen is s.screen)
        assert s.session.answers == []


class FakeEditing:
    """A dialog whose external editor is played by the test."""

    def __init__(self, s: Stage) -> None:
        self.asked: list[Editable] = []
        self.outcomes: asyncio.Queue[Outcome] = asyncio.Queue()
        self.closed: list[Closed[Reply] | None] = []
        spill = s.screen.prompt.type_text
        dialog = PlanScreen(plan(), DialogContext(UNICODE, spill, clock, AnswerKeys.LETTERS), self._edit)
        s.app.push_screen(dialog, self.closed.append)

    async def _edit(self, editable: Editable) -> Outcome:
        self.asked.append(editable)
        return await self.outcomes.get()


async def test_an_edited_plan_is_shown_and_approved_as_edited() -> None:
    async with stage() as s:
        editing_stub = FakeEditing(s)
        editing_stub.outcomes.put_nowait(NotEdited("Nothing was changed."))
        editing_stub.outcomes.put_nowait(Edited("# Less\n\n- only this"))
        await ready(s)
        await s.pilot.press("e")
        await s.shows("Nothing was changed.")
        await ready(s)
        await s.pilot.press("e")
        await s.until(lambda: "only this" in s.drawn() and "edited by you" in s.drawn())
        assert editing_stub.asked == [Editable("plan", PLAN, ".md")] * 2
        assert editing_stub.closed == []
        await ready(s)
        await s.pilot.press("ctrl+y")
        reply = PlanReply(PlanDecision.APPROVE, edited="# Less\n\n- only this")
        await s.until(lambda: editing_stub.closed == [Closed(reply)])
