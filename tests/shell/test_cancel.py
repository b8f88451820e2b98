"""A cancelled command leaves nothing behind, whatever it did to stay."""

from pathlib import Path

import pytest

from bench.cancel import KINDS, cancel_many
from coder_tui.shell.sandbox import SandboxKind, SandboxStatus
from tests.fakes.shells import BUBBLEWRAP, LANDLOCK, UNCONFINED

SAMPLE = 2 * len(KINDS)


@pytest.mark.parametrize(
    ("status", "commands"),
    [(BUBBLEWRAP, SAMPLE), (LANDLOCK, len(KINDS)), (UNCONFINED, len(KINDS))],
    ids=lambda value: str(getattr(value, "kind", value)),
)
async def test_nothing_is_left(tmp_path: Path, status: SandboxStatus, commands: int) -> None:
    if status.kind is SandboxKind.BUBBLEWRAP and not status.program:
        pytest.skip("bubblewrap is not installed")

    found = await cancel_many(tmp_path, status, commands, seed=1)

    assert (found.cancelled, found.left) == (commands, [])
