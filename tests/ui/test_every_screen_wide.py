"""Every screen where there is room for the panes; look at the pictures when they change."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.fakes.accepted import picture
from tests.fakes.views import VIEWS, shown


@pytest.mark.parametrize("name", [name for name, view in VIEWS.items() if view.size is None])
async def test_it_looks_right_at_140x40(accepted: SnapshotAssertion, name: str) -> None:
    async with shown(name, (140, 40)) as s:
        assert picture(s) == accepted
