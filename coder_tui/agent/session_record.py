"""What can be read of a session afterwards: all of it as a document, what was cut, what it cost."""

import asyncio
from dataclasses import dataclass

from coder_tui.agent.conversation import Conversation
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.agent.whole_output import whole_output
from coder_tui.protocol.messages import AssistantMessage, FinishReason, ToolCall, ToolMessage
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

    @property
    def finish(self) -> FinishReason:
        """How the model's newest reply ended."""
        replies = (each for each in self.conversation.backwards if isinstance(each, AssistantMessage))
        return next((reply.finish for reply in replies), FinishReason.STOP)

    def call(self, call_id: str) -> ToolCall | None:
        """A call as the model wrote it, of those that no summary stands for.

        None for one inside of another, or of a sub-agent.
        """
        replies = (each for each in reversed(self.conversation.recent) if isinstance(each, AssistantMessage))
        return next((call for reply in replies for call in reply.calls if call.id == call_id), None)

    def result(self, call_id: str) -> ToolMessage | None:
        """What the model was told of such a call; None before that."""
        results = (each for each in reversed(self.conversation.recent) if isinstance(each, ToolMessage))
        return next((result for result in results if result.call_id == call_id), None)

    def all_calls(self) -> dict[str, tuple[ToolCall, ToolMessage | None]]:
        """Those of the whole session with what the model was told, by their ids."""
        messages = self.conversation.messages
        results = {each.call_id: each for each in messages if isinstance(each, ToolMessage)}
        replies = (each for each in messages if isinstance(each, AssistantMessage))
        return {call.id: (call, results.get(call.id)) for reply in replies for call in reply.calls}

    async def markdown(self) -> str:
        """What was said and done, in order."""
        return to_markdown(await self.store.load(self.session_id))

    async def whole_output(self, call_id: str) -> str | None:
        """All that a command printed, where its result was cut; None where it was not."""
        return await asyncio.to_thread(whole_output, self.conversation.backwards, call_id)
