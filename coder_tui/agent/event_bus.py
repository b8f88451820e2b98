"""What front ends listen to, and what they answer: events, and requests that wait for the user."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

from coder_tui.protocol.events import Event, Notice, RequestClosed, RequestOpened
from coder_tui.protocol.outcomes import NoticeLevel
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

Listener = Callable[[Event], None]


class EventBus:
    """Synchronous and in order; listeners run in the core's event loop and must not block."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Return the function that ends the subscription."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    def publish(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    def notify(self, level: NoticeLevel, text: str) -> None:
        """Report something to the user."""
        self.publish(Notice(level, text))


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
        """Answer a request; return False if it is no longer open: a late answer changes nothing."""
        waiting = self._open.get(request_id)
        if waiting is None or waiting.future.done():
            return False
        if not isinstance(reply, waiting.kind):
            raise TypeError(f"{type(reply).__name__} does not answer what was asked")
        waiting.future.set_result(reply)
        return True
