"""What is told of tokens goes by the conversation as it is."""

from pathlib import Path

from coder_tui.protocol.usage import Usage
from tests.fakes.scripted_model import Say
from tests.fakes.world import world


async def test_after_an_undo_the_window_is_as_full_as_it_was(tmp_path: Path) -> None:
    replies = [Say("one", usage=Usage(100, 10)), Say("two", usage=Usage(5000, 10))]
    async with world(tmp_path, replies) as made:
        await made.session.submit("a")
        await made.session.submit("b")
        filled = [made.session.facts.usage.context_tokens]
        for move in (made.session.turns.undo, made.session.turns.redo):
            await move()
            filled.append(made.session.facts.usage.context_tokens)

        assert filled == [5010, 110, 5010]
        # What was paid for stays paid for.
        assert made.session.facts.usage.session.total_tokens == 5120
