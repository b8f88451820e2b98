"""Keys as the user set them, their names in hints, and the order in which screen and fields get them.

Each key is handled completely before the next one: between the queues of widgets, keys overtake each other.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
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
    """`rows` is the table with the user's keys; `changed` has only those, by the id of their action."""

    rows: tuple[KeyAction, ...] = KEYS
    changed: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


Hints = tuple[tuple[str, str], ...]
"""Keys, each with a word."""


def named(node: DOMNode, words: str, *contexts: Context) -> str:
    """Return a sentence such as `F8 to answer` with the user's keys in place of those of the table."""
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
    """Return `^P` for Ctrl and a letter, else the usual name."""
    control, _, letter = key.partition("+")
    return f"^{letter.upper()}" if control == "ctrl" and len(letter) == 1 else shown(key)


Typed = events.Key | events.Paste


class TypeAhead:
    """Holds what is typed before a screen is ready; `offer` gets it later, in the same order.

    It may release letters first, which need only a prompt. What is typed during a release waits behind it.
    """

    def __init__(self, offer: Callable[[Typed], Awaitable[None]]) -> None:
        self._offer = offer
        self._kept: list[Typed] | None = []
        self._offered: Typed | None = None
        self._is_held = True
        self._lets_letters = False
        self._releasing = asyncio.Lock()

    def keeps(self, event: Typed) -> bool:
        """Return whether the event has to wait; a letter waits behind one that does."""
        if self._kept is None or event is self._offered:
            return False
        if self._lets_letters and _is_letter(event) and not self._kept and self._offered is None:
            return False
        self._kept.append(event)
        return True

    @property
    def is_over(self) -> bool:
        """Whether keys are handled at once."""
        return self._kept is None

    def hold(self) -> None:
        self._is_held, self._lets_letters = True, False
        if self._kept is None:
            self._kept = []

    async def release_letters(self) -> None:
        async with self._releasing:
            self._is_held, self._lets_letters = False, True
            await self._release(_is_letter)

    async def release_all(self) -> None:
        async with self._releasing:
            self._is_held = False
            try:
                await self._release(lambda _: True)
            finally:
                # Held again by one of the keys: the rest waits for the next release.
                if not self._is_held:
                    self._kept = None

    async def _release(self, passes: Callable[[Typed], bool]) -> None:
        while self._kept and not self._is_held and passes(self._kept[0]):
            self._offered = self._kept.pop(0)
            try:
                await self._offer(self._offered)
            finally:
                self._offered = None


def _is_letter(event: Typed) -> bool:
    return isinstance(event, events.Key) and event.is_printable


class KeyFirstScreen:
    """While it is on top, the app offers it every key and paste first, in its own queue.

    Through the queues of widgets a key would overtake another, or reach a dialog that an earlier one closed.
    """

    help_context: Context

    @abstractmethod
    async def handle_input(self, event: Typed) -> bool:
        """Return whether the event has been handled."""

    def rearm(self) -> None:
        """Distrust the next key: the terminal got the focus back, and it may be meant for another program."""


class TypingTarget:
    """A widget that wants letters for itself while it has the focus."""

    @abstractmethod
    def type_key(self, event: events.Key) -> bool:
        """Return whether the key was meant for it."""

    @abstractmethod
    def type_text(self, text: str) -> bool:
        """Return whether pasted text was meant for it."""


async def dispatch_key(screen: Screen[Any], field: Prompt, event: Typed) -> None:
    """Type into the field what can be typed, unless the focused widget has a use for the key."""
    if isinstance(screen.focused, TypingTarget) and _is_taken(screen.focused, event):
        return
    if isinstance(event, events.Paste):
        screen.set_focus(field)
        field.paste(event.text)
    elif screen.focused is field and not _is_bound_chord(screen, event) and field.type_key(event):
        return
    elif (bound := screen.active_bindings.get(event.key)) is not None:
        await screen.app.run_action(bound.binding.action, bound.node)
    elif event.is_printable:
        screen.set_focus(field)
        field.type_key(event)


def _is_bound_chord(screen: Screen[Any], event: events.Key) -> bool:
    """Tell a bound Alt+letter from Esc and a letter typed fast, which arrive the same way."""
    return event.key.startswith("alt+") and event.key in screen.active_bindings


def _is_taken(widget: TypingTarget, event: Typed) -> bool:
    return widget.type_text(event.text) if isinstance(event, events.Paste) else widget.type_key(event)
