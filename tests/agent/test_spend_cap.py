"""Nobody spends more than they said without having been asked."""

from pathlib import Path

from coder_tui.agent.spend_cap import STOP
from coder_tui.protocol.events import ModelChanged, Notice, TurnFinished
from coder_tui.protocol.outcomes import NoticeLevel, TurnOutcome
from coder_tui.protocol.requests import Attendance, Option, QuestionAnswer, QuestionReply
from coder_tui.protocol.usage import Usage
from tests.fakes.scripted_model import Say
from tests.fakes.world import World, world

PAID = Usage(10, 5, cost=0.1)
WORK = [*(Say(calls=(("look", {"text": f"{n}"}),), usage=PAID) for n in range(5)), Say("done", usage=PAID)]
STOPPED = "Stopped at $0.20: the spend limit is $0.25 (limits.max_cost)."


def answered(*picked: str, text: str = "") -> QuestionReply:
    return QuestionReply(Attendance.ANSWERED, (QuestionAnswer(picked, text),))


def ends(made: World) -> list[tuple[TurnOutcome, str]]:
    return [(event.outcome, event.message) for event in made.events if isinstance(event, TurnFinished)]


async def test_the_person_is_asked_before_the_limit_is_passed(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.25, cheaper="tiny") as made:
        await made.session.submit("go")

        (request,) = made.questions
        (question,) = request.questions
        assert question.question == (
            "This session has cost $0.20; the next model call would pass $0.25. "
            "Or type another limit in dollars."
        )
        assert question.options == (
            Option(STOP, "What was done stays; the next message asks again."),
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
        assert made.session.facts.spend_limit == 1.0


async def test_a_limit_can_be_typed(tmp_path: Path) -> None:
    async with world(tmp_path, WORK, max_cost=0.25) as made:
        made.replies = [answered(text="$3")]

        await made.session.submit("go")

        assert (ends(made), made.session.facts.spend_limit) == ([(TurnOutcome.DONE, "")], 3.0)


async def test_the_cheaper_model_goes_on_within_the_limit(tmp_path: Path) -> None:
    cheap = Usage(10, 5, cost=0.01)
    replies = [*WORK[:2], Say(calls=(("look", {"text": "x"}),), usage=cheap), Say("done", usage=cheap)]
    async with world(tmp_path, replies, max_cost=0.25, cheaper="tiny") as made:
        made.replies = [answered("Go on with tiny")]

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
