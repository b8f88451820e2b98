"""Nobody spends more than they said without having been asked."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.session import Session
from coder_tui.agent.turn.limits import STOP
from coder_tui.agent.turn.usage import Prices
from coder_tui.commands.base import Say as Said
from coder_tui.commands.session import compact
from coder_tui.llm.client import ModelInfo
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, ModelChanged, Notice, RequestOpened, TurnFinished
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import NoticeLevel, TurnOutcome
from coder_tui.protocol.requests import (
    Attendance,
    Option,
    Question,
    QuestionAnswer,
    QuestionReply,
    QuestionRequest,
    unattended,
)
from tests.fakes.family import DONE, finish, fork, home
from tests.fakes.scripted_model import Say
from tests.fakes.world import World, world

LONG = " ".join(f"w{number}" for number in range(4_000))
PAID = Usage(10, 5, cost=0.1)
WORK = [*(Say(calls=(("look", {"text": f"{n}"}),), usage=PAID) for n in range(5)), Say("done", usage=PAID)]
STOPPED = "Stopped at $0.20: the spend limit is $0.25 (limits.max_cost)."


def answered(*picked: str, text: str = "") -> QuestionReply:
    return QuestionReply(Attendance.ANSWERED, (QuestionAnswer(picked, text),))


def ends(made: World) -> list[tuple[TurnOutcome, str]]:
    return [(event.outcome, event.message) for event in made.events if isinstance(event, TurnFinished)]


async def test_the_user_is_asked_before_the_limit_is_passed(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.25, small="tiny") as made:
        await made.session.rename("its name is not asked for")
        await made.session.submit("go")

        (request,) = made.questions
        (question,) = request.questions
        assert question.question == (
            "This session has cost $0.20. The next model call would exceed $0.25. "
            "Choose, or type another limit in dollars."
        )
        assert question.options == (
            Option(STOP, "What was done stays. The next message asks again."),
            Option("Go on, up to $0.50"),
            Option("Go on with tiny", "A smaller model, up to $0.25."),
        )
        # Nobody was there to answer.
        assert (len(made.model.requests), ends(made)) == (2, [(TurnOutcome.LIMIT, STOPPED)])


async def test_going_on_doubles_the_limit(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.25) as made:
        made.replies = [answered("Go on, up to $0.50"), answered("Go on, up to $1.00")]

        await made.session.submit("go")

        assert ends(made) == [(TurnOutcome.DONE, "")]
        assert made.of(Notice) == [
            Notice(NoticeLevel.INFO, "The spend limit of this session is $0.50 now."),
            Notice(NoticeLevel.INFO, "The spend limit of this session is $1.00 now."),
        ]
        assert made.session.report.spend_limit == 1.0


async def test_a_limit_can_be_typed(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.25) as made:
        made.replies = [answered(text="$3")]

        await made.session.submit("go")

        assert (ends(made), made.session.report.spend_limit) == ([(TurnOutcome.DONE, "")], 3.0)


async def test_the_cheaper_model_goes_on_within_the_limit(tmp_path: Path) -> None:
    cheap = Usage(10, 5, cost=0.01)
    replies = [*WORK[:2], Say(calls=(("look", {"text": "x"}),), usage=cheap), Say("done", usage=cheap)]
    async with world(tmp_path, replies, max_cost=0.25, small="tiny") as made:
        made.replies = [answered("Go on with tiny")]
        await made.session.rename("its name is not asked for")

        await made.session.submit("go")

        assert [request.model for request in made.model.requests] == ["scripted", "scripted", "tiny", "tiny"]
        assert made.of(ModelChanged) == [ModelChanged("tiny", None)]
        assert (made.session.model, ends(made)) == ("tiny", [(TurnOutcome.DONE, "")])


async def test_who_stopped_is_asked_again_with_the_next_message(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.25) as made:
        made.replies = [answered(STOP), answered("Go on, up to $0.50"), answered("Go on, up to $1.00")]

        await made.session.submit("go")
        await made.session.submit("go on, then")

        assert ends(made) == [(TurnOutcome.LIMIT, STOPPED), (TurnOutcome.DONE, "")]


async def test_a_limit_of_nothing_asks_before_the_first_call(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.0) as made:
        await made.session.submit("go")

        stopped = "Stopped at $0.00: the spend limit is $0.00 (limits.max_cost)."
        assert (made.model.requests, ends(made)) == ([], [(TurnOutcome.LIMIT, stopped)])


async def test_sub_agents_side_by_side_are_counted_before_they_have_cost_anything(tmp_path: Path) -> None:
    paid = Usage(10, 5, cost=0.3)
    tasks = [{"objective": f"k{number}", "agent": "explore"} for number in range(4)]
    script = {
        "go": [replace(fork(*tasks), usage=paid), DONE],
        **{f"k{number}": [replace(finish("x"), usage=paid)] for number in range(4)},
    }
    async with home(tmp_path, script, mode=Mode.AUTO, max_cost=1.0) as here:
        asked = nobody_answers(here.session)
        here.model.holding = {f"k{number}": asyncio.Event() for number in range(4)}
        turn = asyncio.create_task(here.session.submit("go"))
        await here.ended(2)
        for held in here.model.holding.values():
            held.set()
        await turn

        assert [question.question.partition(" Choose")[0] for question in asked] == [
            "This session has cost $0.30, calls that run now may cost $0.60. "
            "The next model call would exceed $1.00."
        ]
        assert sum(len(here.model.requests[f"k{number}"]) for number in range(4)) == 2
        assert here.session.report.cost == pytest.approx(0.9)
        assert here.outcome() is TurnOutcome.LIMIT


async def test_a_summary_between_check_and_call_counts(tmp_path: Path) -> None:
    replies = [
        Say(LONG, usage=Usage(9_000, 100, cost=0.3)),
        Say("the story", usage=Usage(9_000, 10, cost=0.6)),
        Say("second", usage=Usage(100, cost=0.3)),
    ]
    async with world(tmp_path, replies, max_cost=1.0) as made:
        made.session.set_context_window(10_000)
        await made.session.submit("first")
        await made.session.submit("second")

        assert (len(made.questions), len(made.model.requests)) == (1, 2)
        assert made.session.report.cost == pytest.approx(0.9)


async def test_a_summary_that_would_pass_the_limit_is_asked_about(tmp_path: Path) -> None:
    replies = [Say(LONG, usage=Usage(9_000, 100, cost=0.3)), Say("never")]
    async with world(tmp_path, replies, max_cost=0.5) as made:
        made.session.set_context_window(10_000)
        await made.session.submit("first")
        await made.session.submit("second")
        reported = [await compact(made.session, "") for _ in range(2)]

        stopped = "Stopped at $0.30: the spend limit is $0.50 (limits.max_cost)."
        assert ends(made)[-1] == (TurnOutcome.LIMIT, stopped)
        assert reported == [Said(stopped, NoticeLevel.WARNING)] * 2
        assert (len(made.questions), len(made.model.requests)) == (3, 1)


async def test_a_resumed_session_knows_what_its_last_call_cost(tmp_path: Path) -> None:
    near = Usage(10, 5, cost=0.95)
    async with world(tmp_path, [Say("a", usage=near)], max_cost=1.0) as made:
        await made.session.submit("x")
        session_id = made.session.id
    async with world(tmp_path, [Say("b", usage=near)], max_cost=1.0, resume=session_id) as made:
        await made.session.submit("y")

        assert (len(made.questions), made.model.requests) == (1, [])


async def test_a_model_that_was_not_asked_yet_goes_by_its_price(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.25) as made:
        made.session.report.context.meter.prices = Prices(a_dollar_a_token)
        await made.session.submit("go")

        assert (len(made.questions), made.model.requests) == (1, [])


async def test_a_title_is_not_worth_passing_the_limit(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.0, small="tiny") as made:
        await made.session.submit("go")
        await made.session.close()

        assert (made.model.requests, made.session.title) == ([], "go")


async def a_dollar_a_token(model: str, api_base: str) -> ModelInfo:
    return ModelInfo(input_cost=1_000_000, output_cost=1_000_000)


def nobody_answers(session: Session) -> list[Question]:
    """What is asked, while nobody is there."""
    asked: list[Question] = []

    def hear(event: Event) -> None:
        if isinstance(event, RequestOpened) and isinstance(event.request, QuestionRequest):
            asked.extend(event.request.questions)
            session.answer(event.request.id, unattended(event.request))

    session.subscribe(hear)
    return asked
