"""A sample of what `bench.path_races` does at length: folders become links while tools work in them."""

from pathlib import Path

import pytest

from bench.path_races import Trials
from coder_tui.workspace.files import confine


@pytest.mark.parametrize("way", ["one call", "step by step"])
async def test_nothing_outside_is_read_or_changed_by_a_race(
    tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way == "step by step":
        monkeypatch.setattr(confine, "has_openat2", lambda: False)

    found = await Trials(tmp_path, seed=7).run(600)

    assert (found.trials, found.escapes) == (600, [])
    assert found.swaps > 0 and found.outcomes["ok"] > 0 and found.outcomes["internal"] == 0
