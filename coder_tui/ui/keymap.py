"""The keys that hold in this run.

Names of keys in hints: as the table has them, or as the person changed them.

Deals with a key to its end before the next one comes: between widgets' queues keys overtake each other.

What a widget says that wants letters for itself while it has the focus.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from textual import events
from textual.dom import DOMNode
from textual.screen import Screen

from coder_tui.ui.keys import KEYS, Context, KeyAction, shown
from coder_tui.ui.prompt.prompt import Prompt
from coder_tui.ui.textual_internals import changed_keys


@dataclass(frozen=True, slots=True)
class KeyMap:
    """`rows` is the table with the person's keys; `changed` has those alone, by action id."""

    rows: tuple[KeyAction, ...] = KEYS
    changed: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


Hints = tuple[tuple[str, str], ...]
"""Keys with a word each."""


def named(node: DOMNode, words: str, *contexts: Context) -> str:
    """Words in which keys stand as the table has them, such as `F8 answers`; of these contexts' keys."""
    return renamed(words, changed_keys(node.app), contexts)


def named_hints(node: DOMNode, hints: Hints, contexts: Iterable[Context]) -> Hints:
    changed, there = changed_keys(node.app), tuple(contexts)
    return tuple((renamed(keys, changed, there), words) for keys, words in hints) if changed else hints


def renamed(words: str, changed: Mapping[str, str], contexts: Iterable[Context]) -> str:
    """`changed` has new keys by the id of their action."""
    rows = [row for row in KEYS if row.id in changed and row.context in contexts]
    return " ".join(_renamed(word, rows, changed) for word in words.split(" ")) if rows else words


def _renamed(word: str, rows: list[KeyAction], changed: Mapping[str, str]) -> str:
    for row in rows:
        if word in _names(row.keys):
            first = changed[row.id].partition(",")[0]
            return _short(first) if word.startswith("^") else shown(first)
    return word


def _names(keys: str) -> set[str]:
    each = keys.split(",")
    return {shown(key) for key in each} | {_short(key) for key in each}


def _short(key: str) -> str:
    """`^P` for Ctrl and a letter, else its usual name."""
    control, _, letter = key.partition("+")
    return f"^{letter.upper()}" if control == "ctrl" and len(letter) == 1 else shown(key)


class TakesKeys:
    """Keys come one at a time, each dealt with to its end."""

    @abstractmethod
    def take(self, event: events.Key) -> bool:
        """Whether the key was meant for it."""

    @abstractmethod
    def type_text(self, text: str) -> bool:
        """Whether pasted text was meant for it."""


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
