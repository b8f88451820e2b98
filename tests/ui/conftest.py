"""What tests of the screen share."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.fakes.accepted import SvgExtension


@pytest.fixture
def accepted(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Equals a picture that somebody has looked at and accepted."""
    return snapshot.use_extension(SvgExtension)
