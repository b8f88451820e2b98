"""A sample of what `bench.kill_writes` does at length: death in the middle of writes."""

from pathlib import Path

import pytest

from bench.kill_writes import Trials


@pytest.mark.parametrize(("with_session", "kills"), [(False, 4), (True, 3)], ids=["calls", "session"])
def test_a_killed_program_leaves_whole_files_and_the_next_start_is_tidy(
    tmp_path: Path, with_session: bool, kills: int
) -> None:
    found = Trials(tmp_path, seed=7, with_session=with_session).run(kills)

    assert (found.kills, found.mixed, found.strays, found.damaged) == (kills, [], [], [])
