"""Open questions to the person, as futures by id; events only announce them."""

import asyncio

from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import Reply, Request


class RequestBroker:
    """Several may be open at once; each is answered once, or withdrawn when its asker goes away."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._open: dict[str, asyncio.Future[Reply]] = {}

    async def ask(self, request: Request) -> Reply:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[request.id] = future
        reply: Reply | None = None
        try:
            self._bus.publish(RequestOpened(request))
            reply = await future
            return reply
        finally:
            self._open.pop(request.id, None)
            self._bus.publish(RequestClosed(request.id, reply))

    def answer(self, request_id: str, reply: Reply) -> bool:
        """False when nobody waits for it any more: an answer that comes late changes nothing."""
        future = self._open.get(request_id)
        if future is None or future.done():
            return False
        future.set_result(reply)
        return True
