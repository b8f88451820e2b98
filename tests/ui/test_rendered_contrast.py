"""What the session really draws can be read: at four sizes, in every theme, and without colours."""

import pytest

from tests.fakes.rendered import cells, faults, weak
from tests.fakes.views import VIEWS, at_rest, shown


@pytest.mark.parametrize("name", [name for name, view in VIEWS.items() if not view.is_modal])
async def test_everything_drawn_can_be_read(name: str) -> None:
    assert await faults(name) == {}


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
