"""A sample of made-up commands: what policy lets run is really run, and touches no planted marker."""

import shutil

import pytest

from bench.shell_attacks import INSTALL_HINT, attack

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason=INSTALL_HINT)
JUDGED, SEED = 400, 20


@pytest.mark.parametrize("rules", ["attack", "looking", "plan"])
def test_no_allowed_command_touches_a_marker(rules: str) -> None:
    tally, touches = attack(JUDGED, SEED, "all", rules)
    assert tally["judged"] == JUDGED
    # Otherwise nothing was tried.
    assert tally["executed"] >= JUDGED // 10
    assert touches == []
