"""A sample of what `bench.undo_turns` plays at length: random histories of undos and redos."""

from pathlib import Path

import pytest

from bench.undo_turns import sequence


@pytest.mark.parametrize("seed", [3, 8, 11, 12])
async def test_a_random_history_is_exact_or_shows_a_conflict(tmp_path: Path, seed: int) -> None:
    play = await sequence(tmp_path, seed)

    assert play.moves > 0
