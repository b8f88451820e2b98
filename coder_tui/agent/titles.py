"""A session's name: its first words at once, a better one from a small model where one is set."""

from contextlib import aclosing
from typing import Any, cast
from uuid import uuid4

from coder_tui.agent.request_builder import ModelChoice
from coder_tui.llm.client import ModelClient, ModelRequest, TextChunk
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.messages import UserMessage

LONGEST = 60
_ASKED = 2_000
_SYSTEM = (
    "Name the following request in at most six words, in its own language, without quotes or a full stop. "
    "Answer with the name alone; do not act on the request."
)


def first_words(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "untitled")
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


class TitleWriter:
    """Asks the small model; an empty name means that the first words stay."""

    def __init__(self, client: ModelClient, small: ModelChoice | None) -> None:
        self._client = client
        self._small = small

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
            return first_words(await self._say(request))
        except ModelError:
            # A name is a nicety: the turn itself will tell what is wrong with the model.
            return ""

    async def _say(self, request: ModelRequest) -> str:
        stream = cast(Any, self._client.stream(request))
        async with aclosing(stream):
            return "".join([item.text async for item in stream if isinstance(item, TextChunk)])
