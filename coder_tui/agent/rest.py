"""What rearranges a session needs it at rest: a message that is sent meanwhile waits for the end of that."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from coder_tui.protocol.errors import UserError

BUSY = "The agent is working; stop it first (Esc)."
CLOSED = "This session is closed."
_PATIENCE = 5.0


class Rest:
    """Of one session. Who waits is let in in order: what is sent during an undo begins its turn after it."""

    def __init__(self, is_in_turn: Callable[[], bool]) -> None:
        self._is_in_turn = is_in_turn
        self.door = asyncio.Lock()
        self.is_over = False
        """Whether nothing may begin any more."""

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

    async def end(self) -> None:
        """Let what is under way come to its end, for a while; what waits behind it does not begin."""
        self.is_over = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE), self.door:
                return

    def _require(self) -> None:
        if self.is_over:
            raise UserError(CLOSED)
        if self._is_in_turn():
            raise UserError(BUSY)
