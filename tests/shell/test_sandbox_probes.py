"""No probe escapes the sandbox. Without one each does, so every probe is meaningful."""

import pytest

from bench.sandbox_probe_list import PROBES, Probe
from bench.sandbox_probes import attempt, may_control
from tests.fakes.shells import BUBBLEWRAP, UNCONFINED

FEWEST = 60
EVERY = 9

pytestmark = pytest.mark.needs("bubblewrap")


def test_there_are_enough() -> None:
    assert len({probe.name for probe in PROBES}) == len(PROBES) >= FEWEST


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_a_probe_does_not_get_out(probe: Probe) -> None:
    assert not attempt(probe, BUBBLEWRAP)


CONTROLLED = [probe for probe in PROBES if probe.has_control and not probe.needs_root][::EVERY]


@pytest.mark.parametrize("probe", CONTROLLED, ids=lambda probe: probe.name)
def test_without_a_sandbox_it_does(probe: Probe) -> None:
    assert may_control(probe)
    assert attempt(probe, UNCONFINED)
