"""Deals with a key to its end before the next one comes: between widgets' queues keys overtake each other."""

from typing import Any

from textual import events
from textual.screen import Screen

from coder_tui.ui.widgets.prompt import Prompt
from coder_tui.ui.widgets.takes_keys import TakesKeys


async def deliver(screen: Screen[Any], field: Prompt, event: events.Key | events.Paste) -> None:
    """What can be typed goes to the field, unless the key means something where the focus is."""
    if isinstance(screen.focused, TakesKeys) and _is_taken(screen.focused, event):
        return
    if isinstance(event, events.Paste):
        screen.set_focus(field)
        field.paste(event.text)
    elif screen.focused is field and not _is_bound_chord(screen, event) and field.take(event):
        return
    elif (bound := screen.active_bindings.get(event.key)) is not None:
        await screen.app.run_action(bound.binding.action, bound.node)
    elif event.is_printable:
        screen.set_focus(field)
        field.take(event)


def _is_bound_chord(screen: Screen[Any], event: events.Key) -> bool:
    """Alt with a letter comes with the letter; one that means nothing is an Esc and a letter, typed fast."""
    return event.key.startswith("alt+") and event.key in screen.active_bindings


def _is_taken(widget: TakesKeys, event: events.Key | events.Paste) -> bool:
    return widget.type_text(event.text) if isinstance(event, events.Paste) else widget.take(event)
