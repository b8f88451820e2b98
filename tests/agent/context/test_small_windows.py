"""No session ends for good because a window is small, or smaller than it was thought to be."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from coder_tui.agent.context.compaction import NO_MODEL
from coder_tui.agent.context.conversation import LEFT_OUT
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.llm.client import estimate_tokens
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.protocol.events import Event, Notice, TurnFailed, TurnFinished
from coder_tui.protocol.messages import ToolMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.storage.store import Store
from tests.fakes.family import DONE, calls, finish, home, task
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say
from tests.fakes.windowed_model import WindowedModel

OVERFLOW = ModelError(ModelErrorKind.OVERFLOW, "too long")


@dataclass
class Place:
    core: SessionFactory
    session: Session
    events: list[Event] = field(default_factory=list)

    def ends(self) -> list[type]:
        return [type(event) for event in self.events if isinstance(event, TurnFinished | TurnFailed)]

    def warnings(self) -> list[str]:
        notices = (event for event in self.events if isinstance(event, Notice))
        return [notice.text for notice in notices if notice.level is NoticeLevel.WARNING]


@asynccontextmanager
async def place(tmp_path: Path, model: WindowedModel, thought: int | None) -> AsyncIterator[Place]:
    project = tmp_path / "project"
    await asyncio.to_thread(project.mkdir)
    setup = setup_in(tmp_path, project, Mode.AUTO)
    core = SessionFactory(setup, await Store.open(setup.directories.database), model, ModelChoice("scripted"))
    session = await core.new_session()
    session.set_context_window(thought)
    made = Place(core, session)
    session.subscribe(made.events.append)
    try:
        yield made
    finally:
        await session.close()
        await core.close()


def words(tokens: int) -> str:
    text = "word " * tokens
    return text[: len(text) * tokens // estimate_tokens(text)]


async def test_a_small_window_holds_a_long_talk(tmp_path: Path) -> None:
    model = WindowedModel(16_000)
    async with place(tmp_path, model, 16_000) as made:
        for number in range(30):
            await made.session.submit(f"message {number} {words(700)}")
        assert (made.ends(), model.refused) == ([TurnFinished] * 30, 0)
        assert model.summaries < 10, "a summary leaves room for a while"


async def test_a_window_smaller_than_it_was_thought_to_be_is_found_out(tmp_path: Path) -> None:
    model = WindowedModel(40_000)
    async with place(tmp_path, model, 200_000) as made:
        for number in range(14):
            await made.session.submit(f"message {number} {words(4_000)}")
        assert (made.ends(), made.warnings()) == ([TurnFinished] * 14, [])
        assert model.refused < 3, "what was refused is remembered"


async def test_a_window_that_a_refusal_names_is_believed(tmp_path: Path) -> None:
    model = WindowedModel(40_000, is_named=True)
    async with place(tmp_path, model, None) as made:
        for number in range(40):
            await made.session.submit(f"message {number} {words(2_000)}")
        assert (made.ends(), model.refused) == ([TurnFinished] * 40, 1)


async def test_one_step_that_read_more_than_the_window_is_gone_on_from(tmp_path: Path) -> None:
    names = [f"{number}.txt" for number in range(4)]
    model = WindowedModel(15_000, calls=[("read", {"path": name}) for name in names])
    async with place(tmp_path, model, 200_000) as made:
        for name in names:
            (made.session.directory / name).write_text(f"{words(60)}\n" * 200)
        await made.session.submit("read them")
        results = [each for each in model.taken[-1].messages if isinstance(each, ToolMessage)]
        assert (made.ends(), model.refused) == ([TurnFinished], 1)
        assert [LEFT_OUT in each.content for each in results] == [True] * 4


async def test_a_window_that_its_tools_nearly_fill_is_not_summed_up_at_every_step(tmp_path: Path) -> None:
    calls = [("glob", {"pattern": f"*{number}"}) for number in range(9)]
    model = WindowedModel(9_500, calls=calls)
    async with place(tmp_path, model, 9_500) as made:
        for number in range(5):
            await made.session.submit(f"message {number}")
        assert made.ends() == [TurnFinished] * 5
        assert model.summaries <= 5


async def test_after_a_message_that_fits_no_window_the_next_one_is_answered(tmp_path: Path) -> None:
    model = WindowedModel(40_000)
    async with place(tmp_path, model, 200_000) as made:
        for text in (words(10_000), words(10_000), words(60_000), "go on", "and on"):
            await made.session.submit(text)
        assert made.ends() == [TurnFinished, TurnFinished, TurnFailed, TurnFinished, TurnFinished]
        await made.session.compaction.undo()


async def test_where_no_model_sums_up_the_session_still_goes_on_and_it_is_said(tmp_path: Path) -> None:
    model = WindowedModel(40_000, summary="")
    async with place(tmp_path, model, None) as made:
        await made.session.submit(f"FIRST {words(15_000)}")
        before = made.session.report.context.conversation.for_model
        await made.session.submit(f"SECOND {words(15_000)}")
        await made.session.submit(f"THIRD {words(15_000)}")
        assert (made.ends(), made.warnings()) == ([TurnFinished] * 3, [NO_MODEL])
        head = model.taken[-1].messages[0]
        assert "FIRST" in repr(head)
        await made.session.compaction.undo()
        assert made.session.report.context.conversation.for_model[: len(before)] == before


async def test_a_resumed_session_is_as_full_as_its_compaction_left_it(tmp_path: Path) -> None:
    model = WindowedModel(200_000)
    async with place(tmp_path, model, 200_000) as made:
        for number in range(6):
            await made.session.submit(f"message {number} {words(20_000)}")
        left = (await made.session.compaction.compact()).tokens_after
        await made.session.close()
        again = await made.core.resume(made.session.id)
        filled = again.report.usage.context_tokens
        await again.close()
        assert filled == left


async def test_a_sub_agent_makes_room_as_its_session_does(tmp_path: Path) -> None:
    long = f"long work {words(3_000)}"
    script = {
        "go": [task(long), DONE],
        long: [calls("glob", pattern="*1"), calls("glob", pattern="*2"), Say(error=OVERFLOW)],
    }
    async with home(tmp_path, script, mode=Mode.AUTO) as here:
        # What it is sent then begins with another message: a transcript, and the note.
        here.model.otherwise = [Say("the story"), finish("found it")]
        await here.session.submit("go")
        assert here.result()["ok"], here.result()
        assert "found it" in repr(here.result())
        paid = await here.session.report.paid_calls()
        assert len(paid) == 6, "its summary is paid for, too"
