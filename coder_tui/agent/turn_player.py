"""Plays a turn to its end, whatever that is, and tells of it."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from coder_tui.agent.session_name import SessionName
from coder_tui.agent.turn import Turn, TurnEnd, TurnServices
from coder_tui.protocol.errors import MessageRefusedError, ModelError, StorageError
from coder_tui.protocol.events import TurnFailed, TurnFinished, TurnStarted
from coder_tui.protocol.outcomes import TurnOutcome

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnPlayer:
    services: TurnServices
    name: SessionName
    note: Callable[[int], Awaitable[None]]
    """Writes down where the turn of this number begins."""

    async def play(self, number: int, text: str) -> None:
        """Only what ends the program gets through: a bug must not take the person's session with it."""
        began, bus = time.monotonic(), self.services.bus
        self.services.meter.start_turn(number)
        self.services.cap.begin()
        bus.publish(TurnStarted(number))
        turn = Turn(self.services)
        try:
            end = await self._run(turn, number, text)
        except ModelError as error:
            await self._fail(turn, number, error.message, error.hint)
        except MessageRefusedError as error:
            await self._fail(turn, number, str(error), "")
        except StorageError as error:
            await self._fail(turn, number, f"{error}.", "The turn stopped there; earlier messages are safe.")
        except Exception as error:
            log.exception("turn %d failed", number)
            await self._fail(turn, number, f"Internal error: {error!r}", "The log file has the details.")
        else:
            duration = round((time.monotonic() - began) * 1000)
            bus.publish(TurnFinished(number, end.outcome, end.message, duration))

    async def _run(self, turn: Turn, number: int, text: str) -> TurnEnd:
        limits = self.services.limits
        try:
            async with asyncio.timeout(limits.seconds):
                await self.note(number)
                await self.name.name_after(text)
                await self.services.prepare()
                return await turn.run(text)
        except TimeoutError:
            await turn.settle()
            return TurnEnd(TurnOutcome.LIMIT, limits.out_of_time)
        except asyncio.CancelledError:
            await turn.settle()
            return TurnEnd(TurnOutcome.INTERRUPTED)

    async def _fail(self, turn: Turn, number: int, message: str, hint: str) -> None:
        await turn.close_open_calls("the turn failed before this call ended; it may have run")
        self.services.bus.publish(TurnFailed(number, message, hint))
