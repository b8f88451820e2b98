"""Nothing unseen is overwritten."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.workspace.files.confine import Located
from coder_tui.workspace.files.text import ReadLedger

HERE = Located(Path("/w/a"), "a", is_inside=True, escapes_by_link=False)


def refusal(ledger: ReadLedger, digest: str) -> str:
    with pytest.raises(ToolError) as caught:
        ledger.check_overwrite(HERE, digest)
    assert caught.value.type is ErrorType.STALE_FILE
    return caught.value.message


def test_a_file_that_was_not_read_is_not_overwritten() -> None:
    assert refusal(ReadLedger(), "1") == "a exists and was not read in this session."


def test_a_file_that_changed_since_it_was_read_is_not_overwritten() -> None:
    ledger = ReadLedger()
    ledger.note(HERE.path, "1")

    ledger.check_overwrite(HERE, "1")
    assert refusal(ledger, "2") == "a exists and changed on disk since it was read."
    assert (ledger.has_changed(HERE.path, "1"), ledger.has_changed(HERE.path, "2")) == (False, True)


def test_a_change_of_ones_own_is_known_where_the_rest_was() -> None:
    seen, unseen, made = ReadLedger(), ReadLedger(), ReadLedger()
    seen.note(HERE.path, "1")

    for ledger, before in ((seen, "1"), (unseen, "1"), (made, None)):
        ledger.note_change(HERE.path, before, "2")

    seen.check_overwrite(HERE, "2")
    made.check_overwrite(HERE, "2")
    assert refusal(unseen, "2") == "a exists and was not read in this session."


async def test_one_at_a_time_changes_a_file() -> None:
    ledger = ReadLedger()
    order: list[str] = []

    async def change(name: str) -> None:
        async with ledger.lock(HERE.path):
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    await asyncio.gather(change("first"), change("second"))

    assert order == ["first begins", "first ends", "second begins", "second ends"]
    assert ledger.lock(HERE.path) is not ledger.lock(Path("/w/b"))
