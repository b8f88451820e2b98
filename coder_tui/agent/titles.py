"""A session's name: its first words at once, a better one from a small model where one is set."""

from uuid import uuid4

from coder_tui.agent.plain_reply import plain_reply
from coder_tui.agent.request_builder import ModelChoice
from coder_tui.agent.spend_cap import SpendCap, SpendLimitError
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.llm.client import ModelClient, ModelRequest
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

    def __init__(
        self, client: ModelClient, small: ModelChoice | None, meter: UsageMeter, cap: SpendCap
    ) -> None:
        self._client = client
        self._small = small
        self._meter = meter
        self._cap = cap

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
            async with self._cap.aside(self._meter, request):
                reply = await plain_reply(self._client, request, self._meter, self._meter.add_beside)
        except (ModelError, SpendLimitError):
            # A name is a nicety: the turn itself will tell what is wrong with the model, or ask for money.
            return ""
        return first_words(reply.text)
