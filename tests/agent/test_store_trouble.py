"""Trouble with the store in the middle of a session: the turn fails with a sentence, the session goes on."""

import sqlite3
from pathlib import Path

import pytest

from coder_tui.protocol.events import TurnFailed, TurnFinished
from coder_tui.storage import database
from tests.fakes.scripted_model import Say
from tests.fakes.world import World, world


async def said(made: World) -> list[str]:
    stored = await made.store.load(made.session.id)
    return [message.text for message in stored.messages if message.role == "user"]


async def test_a_store_that_another_process_holds_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_TIMEOUT_SEC", 0.1)
    async with world(tmp_path, [Say("One."), Say("Two.")]) as made:
        await made.session.submit("first")
        other = sqlite3.connect(tmp_path / "data/sessions.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await made.session.submit("while it is held")
        other.execute("ROLLBACK")
        other.close()
        await made.session.submit("later")
        words = await said(made)
        ends = made.of(TurnFinished, TurnFailed)

    assert words == ["first", "later"]
    assert [type(end) for end in ends] == [TurnFinished, TurnFailed, TurnFinished]
    assert ends[1] == TurnFailed(
        2,
        f"{tmp_path}/data/sessions.db is locked by another process; try again when it has finished.",
        "The turn stopped there; earlier messages are safe.",
    )


async def test_a_disk_that_is_full_for_a_while(tmp_path: Path) -> None:
    async with world(tmp_path, [Say("One."), Say("Two." * 50_000), Say("Three.")]) as made:
        await made.session.submit("first")
        await made.store._database.read(
            lambda connection: connection.execute("PRAGMA max_page_count = 1").close()
        )
        await made.session.submit("much")
        await made.store._database.read(
            lambda connection: connection.execute("PRAGMA max_page_count = 100000").close()
        )
        await made.session.submit("later")
        words = await said(made)
        failed = made.of(TurnFailed)

    assert (words[0], words[-1]) == ("first", "later")
    assert [event.message for event in failed if isinstance(event, TurnFailed)] == [
        f"cannot save to {tmp_path}/data/sessions.db: the disk is full; "
        "free some space. What was saved before is safe."
    ]
