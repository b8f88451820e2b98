"""Every event is routed to the screen, every display block has its renderer."""

import ast
import inspect
from typing import get_args

from coder_tui.protocol.display import DisplayBlock
from coder_tui.protocol.events import Event
from coder_tui.ui.draw.blocks import RENDERERS
from coder_tui.ui.session import router


def matched_classes(source: str) -> set[str]:
    """Names of the classes in `case Name(...)` patterns."""
    return {
        node.cls.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name)
    }


def test_every_event_is_routed() -> None:
    events = {event.__name__ for event in get_args(Event)}
    assert events - matched_classes(inspect.getsource(router)) == set()


def test_every_display_block_has_a_renderer() -> None:
    assert set(get_args(DisplayBlock)) == set(RENDERERS)
