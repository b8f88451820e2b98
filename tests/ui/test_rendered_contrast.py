"""The sixteen colors of a terminal, and none at all, are enough to read everything."""

import pytest

from tests.fakes.rendered import cells, weak
from tests.fakes.views import at_rest, shown


@pytest.mark.parametrize("name", ["session", "themes"])
async def test_the_sixteen_colours_are_the_terminals_own(name: str) -> None:
    async with shown(name, (100, 30)) as s:
        s.app.theme = "ansi-16"
        await at_rest(s)
        strips = s.app.screen._compositor.render_strips()
        styles = [segment.style for strip in strips for segment in strip if segment.style]
        used = {color for style in styles for color in (style.color, style.bgcolor) if color}
        assert {color.name for color in used if color.number is None} == set()


async def test_without_colours_there_is_no_hue_and_all_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with shown("browsing", (100, 30)) as s:
        seen = list(cells(s))
        hues = {cell for cell in seen for color in (cell.ink, cell.ground) if len(set(color.rgb)) > 1}
        assert (hues, weak(s)) == (set(), set())
