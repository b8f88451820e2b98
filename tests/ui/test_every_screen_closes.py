"""Every screen above the session closes by Esc and leaves draft, cursor and focus as they were."""

import pytest

from tests.fakes.screens import Stage
from tests.fakes.views import VIEWS, opened, prepared

DRAFT = "one line, kept\n\tand a second: 二行 👍🏽\n"
CURSOR = (1, 4)


async def close(s: Stage, escapes: int) -> None:
    for left in reversed(range(escapes)):
        await s.pilot.press("escape")
        await s.pilot.pause()
        assert (s.app.screen is s.screen) == (left == 0), f"{left} more were expected"


@pytest.mark.parametrize(
    "name", [name for name, view in VIEWS.items() if view.is_modal and not view.at_start]
)
async def test_escape_gives_draft_cursor_and_focus_back(name: str) -> None:
    async with prepared(name, (100, 30)) as s:
        s.screen.prompt.show_draft(DRAFT)
        s.screen.prompt.move_cursor(CURSOR)
        await s.pilot.pause()
        await opened(s, VIEWS[name])
        focused = s.screen.focused
        await close(s, VIEWS[name].escapes)
        assert (s.draft, s.screen.prompt.cursor_location) == (DRAFT, CURSOR)
        assert s.screen.focused is focused
        assert focused is s.screen.prompt or name == "pager"
