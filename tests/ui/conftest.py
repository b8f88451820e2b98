"""What tests of the screen share."""

import asyncio
import gc
from collections.abc import Callable, Iterator

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.fakes.accepted import SvgExtension
from tests.fakes.virtual_time import VirtualClock, VirtualLoop, clocks_follow

_CLOCK = VirtualClock()


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run the screen in virtual time: nothing is waited for, and no machine is too slow."""
    if item.get_closest_marker("real_time"):
        return {"real": asyncio.SelectorEventLoop}
    return {"virtual": lambda: VirtualLoop(_CLOCK)}


@pytest.fixture(autouse=True)
def virtual_clock(request: pytest.FixtureRequest) -> Iterator[None]:
    # A comparison of pictures runs the app in a loop of its own.
    if request.node.get_closest_marker("real_time") or "snap_compare" in request.fixturenames:
        yield
        return
    with clocks_follow(_CLOCK):
        yield


@pytest.fixture
def accepted(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Equals a picture that somebody has looked at and accepted."""
    return snapshot.use_extension(SvgExtension)


@pytest.fixture(scope="session", autouse=True)
def nothing_frozen() -> Iterator[None]:
    """Let the screens of earlier tests go: an app freezes everything that is alive when it opens."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "freeze", lambda: None)
        yield
