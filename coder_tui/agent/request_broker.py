"""Open questions to the person, as futures by id; events only announce them."""

import asyncio
from dataclasses import dataclass
from typing import overload

from coder_tui.agent.event_bus import EventBus
from coder_tui.protocol.events import RequestClosed, RequestOpened
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    PlanReply,
    PlanRequest,
    QuestionReply,
    QuestionRequest,
    Reply,
    Request,
)

_REPLIES: dict[type[Request], type[Reply]] = {
    ApprovalRequest: ApprovalReply,
    QuestionRequest: QuestionReply,
    PlanRequest: PlanReply,
}


@dataclass(frozen=True, slots=True)
class _Open:
    kind: type[Reply]
    future: asyncio.Future[Reply]


class RequestBroker:
    """Several may be open at once; each is answered once, or withdrawn when its asker goes away."""

    def __init__(self, bus: EventBus) -> None:
        self._bus = bus
        self._open: dict[str, _Open] = {}

    @overload
    async def ask(self, request: ApprovalRequest) -> ApprovalReply: ...
    @overload
    async def ask(self, request: QuestionRequest) -> QuestionReply: ...
    @overload
    async def ask(self, request: PlanRequest) -> PlanReply: ...
    async def ask(self, request: Request) -> Reply:
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[request.id] = _Open(_REPLIES[type(request)], future)
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
        waiting = self._open.get(request_id)
        if waiting is None or waiting.future.done():
            return False
        if not isinstance(reply, waiting.kind):
            raise TypeError(f"{type(reply).__name__} does not answer what was asked")
        waiting.future.set_result(reply)
        return True
