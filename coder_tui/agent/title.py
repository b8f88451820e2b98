"""What a session is called: its first words, until there is a better name.

A session's name: its first words at once, a better one from a small model where one is set.
"""

from dataclasses import dataclass
from uuid import uuid4

from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.turn.limits import SpendCap, SpendLimitError
from coder_tui.agent.turn.model_call import plain_reply
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.client import ModelClient, ModelRequest
from coder_tui.llm.traits import traits_of
from coder_tui.protocol.errors import ModelError
from coder_tui.protocol.events import SessionRenamed
from coder_tui.protocol.messages import UserMessage
from coder_tui.storage.store import Store
from coder_tui.tasks import Background

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


@dataclass(slots=True)
class SessionState:
    """What changes while a session lives, shared with the parts that read it."""

    model: str
    title: str
    turn: int = 0

    def sees_images(self) -> bool:
        return traits_of(self.model).sees_images


@dataclass(frozen=True, slots=True)
class SessionName:
    session_id: str
    store: Store
    bus: EventBus
    state: SessionState
    titles: TitleWriter
    background: Background

    async def name_after(self, text: str) -> None:
        if not self.state.title:
            await self.rename(first_words(text))
            self.background.start(self._find_better(text))

    async def rename(self, title: str) -> None:
        await self.store.rename(self.session_id, title)
        self.state.title = title
        self.bus.publish(SessionRenamed(title))

    async def _find_better(self, text: str) -> None:
        given = self.state.title
        title = await self.titles.title(text)
        # A name that the person gave meanwhile is better than any that was made up.
        if title and self.state.title == given:
            await self.rename(title)
