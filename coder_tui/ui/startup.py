"""Keeps what is typed while there is nothing yet that could deal with it, in order.

When Python looks for garbage: a search stalls the screen, and before a session is open it finds none.
"""

import gc
from collections.abc import Awaitable, Callable

from textual import events

Typed = events.Key | events.Paste


class EarlyKeys:
    """Keeps everything at first; then lets letters through, which need only a prompt; at last everything."""

    def __init__(self, offer: Callable[[Typed], Awaitable[None]]) -> None:
        self._offer = offer
        self._kept: list[Typed] | None = []
        self._lets_letters = False

    def keeps(self, event: Typed) -> bool:
        """Whether the event has to wait; a letter waits behind one that does."""
        if self._kept is None:
            return False
        is_letter = isinstance(event, events.Key) and event.is_printable
        if self._lets_letters and is_letter and not self._kept:
            return False
        self._kept.append(event)
        return True

    def hold(self) -> None:
        self._kept, self._lets_letters = self._kept or [], False

    async def let_letters(self) -> None:
        kept, self._kept, self._lets_letters = self._kept or [], [], True
        for event in kept:
            await self._offer(event)

    async def let_all(self) -> None:
        """What was typed before there was a prompt comes before what is typed now."""
        kept, self._kept = self._kept or [], None
        for event in kept:
            await self._offer(event)


def keep_what_lives() -> None:
    """What there is once the session is open lives until the end: take it out of all further searches."""
    gc.freeze()
    gc.enable()
