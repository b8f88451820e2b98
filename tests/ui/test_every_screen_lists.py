"""Lists, pages and first questions at four sizes: readable, and as accepted; look at changed pictures."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.fakes.rendered import look
from tests.fakes.views import VIEWS


@pytest.mark.parametrize("name", [name for name, view in VIEWS.items() if view.is_modal and not view.asks])
async def test_it_looks_right_and_can_be_read(accepted: SnapshotAssertion, name: str) -> None:
    seen = await look(name)
    assert seen.faults == {}
    for size, picture in seen.pictures.items():
        assert picture == accepted(name=size)
