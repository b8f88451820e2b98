"""Generated commands: those that policy allows are run, and must not touch a planted marker."""

import pytest

from bench.shell_attacks import attack

pytestmark = pytest.mark.needs("bubblewrap")
JUDGED, SEED = 400, 20


@pytest.mark.parametrize("rules", ["attack", "looking", "plan"])
def test_no_allowed_command_touches_a_marker(rules: str) -> None:
    tally, touches = attack(JUDGED, SEED, "all", rules)
    assert tally["judged"] == JUDGED
    # Otherwise nothing was tested.
    assert tally["executed"] >= JUDGED // 10
    assert touches == []
