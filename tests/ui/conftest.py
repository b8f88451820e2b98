"""What tests of the screen share."""

import gc
from collections.abc import Iterator

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.fakes.accepted import SvgExtension


@pytest.fixture
def accepted(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Equals a picture that somebody has looked at and accepted."""
    return snapshot.use_extension(SvgExtension)


@pytest.fixture(scope="module", autouse=True)
def thawed() -> Iterator[None]:
    """A screen that opens freezes what is alive, which here would be all screens of earlier tests."""
    yield
    gc.unfreeze()
