"""Updates of one session, sent in the order in which things happened, as quickly as the editor reads."""

import asyncio
import logging
from collections.abc import Callable

from acp import Client

from coder_tui.acp.updates import Update

log = logging.getLogger(__name__)
Late = Callable[[], Update]
"""Makes an update when its turn has come; runs in a thread, for it reads files."""


class Outbox:
    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self._waiting: asyncio.Queue[Update | Late] = asyncio.Queue()
        self._task = asyncio.create_task(self._send_all())

    def put(self, update: Update | Late) -> None:
        self._waiting.put_nowait(update)

    async def flushed(self) -> None:
        """Until all that was put is on its way; `ConnectionError` where nobody reads it any more."""
        joined = asyncio.ensure_future(self._waiting.join())
        await asyncio.wait({joined, self._task}, return_when=asyncio.FIRST_COMPLETED)
        joined.cancel()
        if self._task.done() and not self._task.cancelled():
            self._task.result()

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _send_all(self) -> None:
        while True:
            update = await self._waiting.get()
            try:
                made = await asyncio.to_thread(update) if callable(update) else update
                await self._client.session_update(self._session_id, made)
            finally:
                self._waiting.task_done()
