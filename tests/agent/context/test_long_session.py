"""A session may remember what was said, and nothing else that grows with each turn."""

import gc
import tracemalloc
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from bench.soak import Sample, is_flat, soaking
from coder_tui.agent.context.budget import TokenBudget
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.context.handover_note import HandoverNote
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.protocol.access import Mode
from coder_tui.protocol.messages import Compaction, ToolMessage, UserMessage
from coder_tui.storage.blobs import BlobStore
from coder_tui.storage.store import Store
from coder_tui.workspace.undo.snapshots import SnapshotStore

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


async def test_a_summary_does_not_bring_the_whole_conversation_back_to_memory(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "store.db")
    session_id = (await store.sessions.create("/w", "scripted", Mode.ASK)).id
    said = tuple(
        message
        for number in range(2_000)
        for message in (
            UserMessage(f"u{number}", f"question {number}"),
            ToolMessage(f"t{number}", f"c{number}", "read", f"{number} {'words ' * 1_000}"),
        )
    )
    conversation = Conversation(
        store.messages, session_id, said, (Compaction(1, said[-1].id, "earlier", frozenset()),)
    )
    snapshots = SnapshotStore(store.changes, BlobStore(tmp_path / "blobs"))
    changes = SessionChanges(snapshots, session_id, lambda: 1, tmp_path / "undone")
    keep = HandoverNote(conversation, changes, tmp_path, tuple, partial(store.compactions.pins, session_id))
    last = said[-1].id
    size = sum(len(message.content) for message in said if isinstance(message, ToolMessage))
    del said

    tracemalloc.start()
    note = await keep.note(last, "what was said", TokenBudget(200_000))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "question 1999" in note
    assert most < size / 4
    await store.close()


def _grown(turns: int, *, memory: float = 0, store: float = 0, cpu: float = 0) -> list[Sample]:
    """Ten samples; what is given is added with each one, more every time."""
    return [
        Sample(turns * n, 70 + memory * n, 16.0 * turns * n + store * n * n, 0, 50 + cpu * n)
        for n in range(1, 11)
    ]


@pytest.mark.parametrize(
    ("samples", "is_well"),
    [
        (_grown(200), True),
        (_grown(200, memory=1), True),
        (_grown(200, memory=3), False),
        (_grown(200, store=100), False),
        (_grown(200, cpu=4), False),
    ],
    ids=["nothing", "a little memory", "memory", "store", "processor"],
)
def test_a_soak_tells_what_grows(samples: list[Sample], is_well: bool) -> None:
    assert is_flat(samples) == is_well
