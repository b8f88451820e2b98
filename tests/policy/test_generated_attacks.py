"""A sample of made-up commands: what policy lets run is really run, and touches no planted marker."""

import pytest

from bench.shell_attacks import attack

pytestmark = pytest.mark.needs("bubblewrap")
JUDGED, SEED = 400, 20


@pytest.mark.parametrize("rules", ["attack", "looking", "plan"])
def test_no_allowed_command_touches_a_marker(rules: str) -> None:
    tally, touches = attack(JUDGED, SEED, "all", rules)
    assert tally["judged"] == JUDGED
    # Otherwise nothing was tried.
    assert tally["executed"] >= JUDGED // 10
    assert touches == []
