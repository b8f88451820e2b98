"""The session and an approval in every theme; look at the pictures when they change."""

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.fakes.accepted import picture
from tests.fakes.views import at_rest, shown
from tests.ui.test_themes import SHIPPED


@pytest.mark.parametrize("name", ["session", "approval-edit"])
async def test_it_looks_right_in_every_theme(accepted: SnapshotAssertion, name: str) -> None:
    async with shown(name, (100, 30)) as s:
        for theme in SHIPPED:
            s.app.theme = theme
            await at_rest(s)
            assert picture(s) == accepted(name=theme)
