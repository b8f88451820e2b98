"""Every screen in the smallest terminal that is meant to show all; look at the pictures when they change."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.fakes.accepted import picture
from tests.fakes.views import VIEWS, shown


@pytest.mark.parametrize("name", VIEWS)
async def test_it_looks_right_at_80x24(accepted: SnapshotAssertion, name: str) -> None:
    async with shown(name, (80, 24)) as s:
        assert picture(s) == accepted
