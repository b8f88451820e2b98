"""A sample of what `bench.kills` does at length: `kill -9` at random points of busy turns."""

from pathlib import Path

from bench.kills import Trial


def test_nothing_that_was_acknowledged_is_lost_when_the_program_is_killed(tmp_path: Path) -> None:
    found = Trial(tmp_path, seed=7).run(10, http=0.0, screen=0.0)

    assert (found.lost, found.damaged, found.halves) == ([], [], [])
    assert found.kills.total() == 10
    assert found.acknowledged > 0


def test_the_same_of_a_screen_with_a_model_over_http(tmp_path: Path) -> None:
    found = Trial(tmp_path, seed=2).run(1, http=0.0, screen=1.0)

    assert (found.lost, found.damaged, found.halves) == ([], [], [])
    assert found.kills == {"screen": 1}
