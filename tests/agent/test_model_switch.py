"""Another model in the middle of a session."""

import asyncio
from pathlib import Path

from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.protocol.events import ModelChanged
from tests.fakes.scripted_model import Say
from tests.fakes.world import ALLOW, world

OTHER = ModelChoice("openai/other", "http://127.0.0.1:1/v1")


async def test_the_next_turn_asks_the_chosen_model_and_the_store_knows_it(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("one"), Say("two")]) as made:
        await made.session.submit("first")
        made.session.set_model(OTHER, 32_000)
        assert made.of(ModelChanged) == [ModelChanged("openai/other", 32_000)]
        await made.session.submit("second")
        asked = [(request.model, request.api_base) for request in made.model.requests]
        assert asked == [("scripted", ""), ("openai/other", "http://127.0.0.1:1/v1")]
        assert made.session.model == "openai/other"
        assert made.session.report.usage.context_window == 32_000
        await made.session.close()
        assert (await made.store.sessions.get(made.session.id)).model == "openai/other"


async def test_a_running_turn_ends_with_the_model_that_it_began_with(tmp_path: Path) -> None:
    replies = [Say("look", calls=(("act", {"text": "x"}),)), Say("done"), Say("next")]
    async with world(tmp_path, replies) as made:
        running = asyncio.create_task(made.session.submit("go"))
        request = await made.asked()
        made.session.set_model(ModelChoice("openai/first-thought"), None)
        made.session.set_model(OTHER, None)
        assert (made.session.model, made.of(ModelChanged)) == ("scripted", [])
        made.session.answer(request.id, ALLOW)
        await running
        assert {request.model for request in made.model.requests} == {"scripted"}
        await made.session.submit("again")
        assert made.of(ModelChanged) == [ModelChanged("openai/other", None)]
        assert made.model.requests[-1].model == "openai/other"
