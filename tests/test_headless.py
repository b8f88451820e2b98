"""A run in which nobody can answer."""

import asyncio
from typing import cast

from coder_tui.agent.session import Session
from coder_tui.headless import ExitCode, HeadlessRun, JsonPrinter
from coder_tui.protocol.events import RequestOpened
from coder_tui.protocol.requests import Request, unattended
from tests.fakes.fake_session import FakeSession
from tests.fakes.questions import plan, questions


async def ran(request: Request) -> tuple[FakeSession, ExitCode, list[str]]:
    session = FakeSession()
    printed: list[object] = []
    running = asyncio.ensure_future(
        HeadlessRun(cast(Session, session), JsonPrinter(printed.append)).run("go")
    )
    started = asyncio.Event()
    session.subscribe(lambda event: started.set())
    await started.wait()
    session.emit(RequestOpened(request))
    session.finish()
    result = await running
    return session, result.exit_code, result.refused


async def test_a_question_is_left_to_the_model_and_refuses_nothing() -> None:
    session, code, refused = await ran(questions())
    assert session.answers == [("q1", unattended(questions()))]
    assert (code, refused) == (ExitCode.DONE, [])


async def test_a_plan_that_nobody_approves_ends_as_refused() -> None:
    session, code, refused = await ran(plan())
    assert session.answers == [("p1", unattended(plan()))]
    assert (code, refused) == (ExitCode.REFUSED, ["plan_exit Make div safe"])
