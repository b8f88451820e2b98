"""Selected text can be read in every theme, and everything with sixteen colors or none."""

import pytest
from textual.color import Color
from textual.selection import SELECT_ALL
from textual.widget import Widget

from coder_tui.ui.themes import own_themes
from tests.fakes.rendered import cells, weak
from tests.fakes.screens import Stage
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


@pytest.mark.parametrize("name", ["calls", "changes"])
async def test_selected_text_can_be_read_in_every_theme(name: str) -> None:
    found = {}
    async with shown(name, (140, 40)) as s:
        s.screen.prompt.paste("a\n" * 40)  # shows as a chip
        s.screen.prompt.type_text(" a draft")
        for theme in own_themes(s.app):
            s.app.theme = theme
            await _select(s, is_selected=False)
            plain = _grounds(s)
            await _select(s, is_selected=True)
            if weak(s) or _grounds(s) & plain:
                found[theme] = weak(s), _grounds(s) & plain
    assert found == {}


def _grounds(s: Stage) -> set[Color]:
    """Behind a sign of the transcript and a word of the prompt."""
    found = {cell.text.strip(): cell.ground for cell in cells(s) if cell.text.strip() in {"a draft", "✓"}}
    assert len(found) == 2
    return set(found.values())


async def _select(s: Stage, *, is_selected: bool) -> None:
    """Select all of the screen and of the prompt, or nothing."""
    if is_selected:
        s.screen.prompt.select_all()
    else:
        s.screen.prompt.move_cursor((0, 0))
    await s.pilot.pause()
    # A change in the prompt clears what is selected elsewhere.
    s.screen.selections = dict.fromkeys(s.screen.query(Widget), SELECT_ALL) if is_selected else {}
    await at_rest(s)
