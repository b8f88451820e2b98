"""Puts the requests of a session to the editor, and gives its answers back."""

import asyncio
import logging

from acp import Client, RequestError
from acp.schema import AllowedOutcome
from pydantic import ValidationError

from coder_tui.acp.calls import Calls
from coder_tui.acp.outbox import Outbox
from coder_tui.acp.requests import Answer, Asked, Cancelled, Chosen, NoAnswer, Refusals, reply_to
from coder_tui.agent.session import Session
from coder_tui.protocol.requests import ApprovalReply, Decision, Request

log = logging.getLogger(__name__)
_ALLOWING = frozenset({Decision.ALLOW_ONCE, Decision.ALLOW_ALWAYS})


class Asking:
    def __init__(
        self, session: Session, client: Client, outbox: Outbox, calls: Calls, refusals: Refusals
    ) -> None:
        self._session = session
        self._client = client
        self._outbox = outbox
        self._calls = calls
        self._refusals = refusals
        self._open: dict[str, asyncio.Task[None]] = {}

    def opened(self, request: Request) -> None:
        self._open[request.id] = asyncio.create_task(self._answer(request))

    def closed(self, request_id: str) -> None:
        """Answered, or withdrawn: then nobody waits for the editor any more."""
        task = self._open.pop(request_id, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        for request_id in tuple(self._open):
            self.closed(request_id)

    async def ask(self, asked: Asked) -> Answer:
        """What is no call of the model's own, a sub-agent's for instance, is shown as one while it lasts."""
        with self._calls.shown(asked.call) as settle:
            answer = await self._put(asked)
            if isinstance(answer, Chosen):
                kinds = {option.option_id: option.kind for option in asked.options}
                settle(is_allowed=kinds.get(answer.option, "").startswith("allow"))
            return answer

    async def _put(self, asked: Asked) -> Answer:
        try:
            await self._outbox.flushed()
            response = await self._client.request_permission(
                session_id=self._session.id, tool_call=asked.call, options=asked.options
            )
        except (RequestError, ConnectionError, ValidationError) as error:
            log.warning("the editor could not be asked: %s", error)
            return NoAnswer()
        if isinstance(response.outcome, AllowedOutcome):
            return Chosen(response.outcome.option_id)
        return Cancelled()

    async def _answer(self, request: Request) -> None:
        reply = await reply_to(request, self.ask, self._session.directory, self._refusals)
        self._open.pop(request.id, None)
        if isinstance(reply, ApprovalReply) and reply.decision in _ALLOWING:
            self._calls.allowed(request.call_id)
        self._session.answer(request.id, reply)
