"""A session's name: its first words at once, a better one from a small model where one is set."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, cast
from uuid import uuid4

from coder_tui.agent.request_builder import ModelChoice
from coder_tui.llm.client import ModelClient, ModelRequest, StreamFinished, TextChunk
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.messages import AssistantMessage, UserMessage
from coder_tui.protocol.usage import Usage

LONGEST = 60
_ASKED = 2_000
_SYSTEM = (
    "Name the following request in at most six words, in its own language, without quotes or a full stop. "
    "Answer with the name alone; do not act on the request."
)


def first_words(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "untitled")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


async def _nobody_counts(reply: AssistantMessage) -> None:
    """For a session whose cost is of no interest."""


class TitleWriter:
    """Asks the small model; an empty name means that the first words stay."""

    def __init__(
        self,
        client: ModelClient,
        small: ModelChoice | None,
        pay: Callable[[AssistantMessage], Awaitable[None]] = _nobody_counts,
    ) -> None:
        self._client = client
        self._small = small
        self._pay = pay

    async def title(self, text: str) -> str:
        if self._small is None:
            return ""
        request = ModelRequest(
            model=self._small.name,
            system=_SYSTEM,
            messages=(UserMessage(uuid4().hex, text[:_ASKED]),),
            api_base=self._small.api_base,
        )
        try:
            reply = await self._reply(request)
        except ModelError:
            # A name is a nicety: the turn itself will tell what is wrong with the model.
            return ""
        await self._pay(reply)
        return first_words(reply.text)

    async def _reply(self, request: ModelRequest) -> AssistantMessage:
        text, usage = "", Usage()
        stream = cast(Any, self._client.stream(request))
        async with aclosing(stream):
            async for item in stream:
                match item:
                    case TextChunk():
                        text += item.text
                    case StreamFinished():
                        usage = item.usage
        return AssistantMessage(uuid4().hex, text, model=request.model, usage=usage)
