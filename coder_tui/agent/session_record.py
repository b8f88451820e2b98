"""What can be read of a session afterwards: all of it as a document, what was cut, what it cost."""

import asyncio
from dataclasses import dataclass

from coder_tui.agent.conversation import Conversation
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.agent.whole_output import whole_output
from coder_tui.storage.export import to_markdown
from coder_tui.storage.sessions import Store


@dataclass(frozen=True, slots=True)
class SessionRecord:
    session_id: str
    store: Store
    conversation: Conversation
    meter: UsageMeter

    @property
    def cost(self) -> float | None:
        """Dollars so far; None where no price is known."""
        return self.meter.session.cost

    async def markdown(self) -> str:
        """What was said and done, in order."""
        return to_markdown(await self.store.load(self.session_id))

    async def whole_output(self, call_id: str) -> str | None:
        """All that a command printed, where its result was cut; None where it was not."""
        return await asyncio.to_thread(whole_output, self.conversation.messages, call_id)
