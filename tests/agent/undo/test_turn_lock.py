"""What rearranges a session is done whole, and nothing begins in one that was closed."""

import asyncio
from pathlib import Path

from tests.fakes.scripted_model import Say
from tests.fakes.world import world


async def test_a_message_that_waits_begins_no_turn_in_a_session_that_was_closed(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("one"), Say("two")]) as made:
        await made.session.submit("first")
        async with made.session.lock.exclusive():
            waiting = asyncio.create_task(made.session.submit("second"))
            closing = asyncio.create_task(made.session.close())
            await asyncio.sleep(0)
            assert not closing.done()
        await asyncio.gather(waiting, closing)
        assert len(made.model.requests) == 1


async def test_an_undo_that_is_cut_off_is_done_whole(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("one"), Say("two")]) as made:
        await made.session.submit("first")
        undoing = asyncio.create_task(made.session.turns.undo())
        await asyncio.sleep(0)
        undoing.cancel()
        await asyncio.wait({undoing})
        assert undoing.cancelled()
        assert made.session.report.context.conversation.messages == ()
        assert (await made.store.load(made.session.id)).messages == ()
