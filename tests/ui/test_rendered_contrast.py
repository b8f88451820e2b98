"""What is really drawn can be read: every screen at four sizes in every theme, and without colours."""

import pytest

from coder_tui.ui.themes import own_themes
from tests.fakes.rendered import clipped, weak
from tests.fakes.screens import Stage
from tests.fakes.views import VIEWS, at_rest, shown

SIZES = ((80, 24), (100, 30), (140, 40), (200, 50))


async def check(s: Stage, size: tuple[int, int]) -> dict[str, object]:
    """What is wrong with the open view at this size, by theme."""
    await s.pilot.resize_terminal(*size)
    await at_rest(s)
    wrong: dict[str, object] = {}
    if lost := clipped(s):
        wrong["clipped"] = lost
    if s.screen.status.size.height != 1:
        wrong["footer"] = s.screen.status.size
    for theme in own_themes(s.app):
        s.app.theme = theme
        await s.pilot.pause()
        if found := weak(s):
            wrong[theme] = found
    return wrong


@pytest.mark.parametrize("name", VIEWS)
async def test_everything_drawn_can_be_read(name: str) -> None:
    sizes = [VIEWS[name].size] if VIEWS[name].size else SIZES
    async with shown(name, SIZES[0]) as s:
        wrong = {size: await check(s, size) for size in sizes if size}
    assert {size: what for size, what in wrong.items() if what} == {}
