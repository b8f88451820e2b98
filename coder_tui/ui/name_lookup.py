"""Looks a name of a change up for a person: what it is, and where it is defined."""

from collections.abc import Callable
from typing import Any

from textual.screen import Screen

from coder_tui.agent.code_lookup import Lookup, NamePlace
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.screens.names import NamesScreen
from coder_tui.ui.widgets.diff_view import DiffView

NO_NAMES = "There is no name in this hunk."


async def look_up(
    screen: Screen[Any],
    lookup: Lookup,
    chrome: Chrome,
    asked: DiffView.NamesAsked,
    open_place: Callable[[str, int, int], None],
    say: Callable[[str], None],
) -> None:
    """To the end: nothing was chosen, the place is open, or it was said why not."""
    names = tuple(NamePlace(*named) for named in asked.names)
    if not names:
        say(NO_NAMES)
        return
    chosen = await screen.app.push_screen_wait(NamesScreen(chrome, lookup, asked.path, names))
    if chosen is None:
        return
    found = await lookup.definition(asked.path, names[int(chosen)])
    if isinstance(found, str):
        say(found)
    else:
        open_place(found.path, found.line, found.character)
