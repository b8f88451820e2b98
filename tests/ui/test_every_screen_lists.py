"""What lists, pages and the first questions draw can be read: at four sizes, and together in every theme."""

import pytest

from tests.fakes.rendered import faults
from tests.fakes.views import VIEWS


@pytest.mark.parametrize("name", [name for name, view in VIEWS.items() if view.is_modal and not view.asks])
async def test_everything_drawn_can_be_read(name: str) -> None:
    assert await faults(name) == {}
