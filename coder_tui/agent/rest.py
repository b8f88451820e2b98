"""What rearranges a session needs it at rest: a message that is sent meanwhile waits for the end of that."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from coder_tui.protocol.errors import UserError

BUSY = "The agent is working; stop it first (Esc)."


class Rest:
    """Of one session. Who waits is let in in order: what is sent during an undo begins its turn after it."""

    def __init__(self, is_in_turn: Callable[[], bool]) -> None:
        self._is_in_turn = is_in_turn
        self.door = asyncio.Lock()

    @property
    def is_held(self) -> bool:
        return self.door.locked()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """No turn begins before the block has ended; `UserError` where one runs."""
        self._require()
        async with self.door:
            # A message may have waited longer, and have begun its turn.
            self._require()
            yield

    def _require(self) -> None:
        if self._is_in_turn():
            raise UserError(BUSY)
