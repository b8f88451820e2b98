"""A session may remember what was said, and nothing else that grows with each turn."""

import gc
from collections import Counter
from pathlib import Path

from bench.soak import soaking

SAID = {"UserMessage", "AssistantMessage", "ToolMessage", "ToolCall", "Usage"}
BUILT_IN = {"dict", "list", "set", "function", "PosixPath", "Task", "Future"}


def alive() -> Counter[str]:
    """What a leak of ours would consist of."""
    gc.collect()
    kinds = (type(each) for each in gc.get_objects())
    return Counter(
        kind.__name__
        for kind in kinds
        if str(kind.__module__).startswith("coder_tui") or kind.__name__ in BUILT_IN
    )


async def test_turns_leave_nothing_behind_but_their_messages(tmp_path: Path) -> None:
    turns = 8
    async with soaking(tmp_path, seed=1) as soak:
        # What is made once, for the first call of each kind, is no growth.
        for number in range(turns):
            await soak.session.submit(f"before {number}")
        before = alive()
        for number in range(turns):
            await soak.session.submit(f"after {number}")
        grown = alive() - before

    assert grown["UserMessage"] == turns
    assert {name: count for name, count in grown.items() if count >= turns and name not in SAID} == {}
