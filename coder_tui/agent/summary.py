"""Has a model write down what a conversation came to, in few words."""

from collections.abc import Iterable, Iterator
from uuid import uuid4

from coder_tui.agent.kept_words import shortened, shortened_to
from coder_tui.agent.plain_reply import plain_reply
from coder_tui.agent.profiles_builtin import prompt_text
from coder_tui.agent.request_builder import ModelChoice
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.llm.client import ModelClient, ModelRequest
from coder_tui.protocol.messages import AssistantMessage, Message, ToolMessage, UserMessage

LONGEST_RESULT = 2_000
"""Characters of a tool's result that are worth summarising."""
_PROMPT = "compact"


class Summariser:
    def __init__(self, client: ModelClient, meter: UsageMeter) -> None:
        self._client = client
        self._meter = meter

    async def summarise(
        self, messages: Iterable[Message], choice: ModelChoice, most_tokens: int, wish: str = ""
    ) -> str:
        """Paid for; empty where the model said nothing."""
        told = told_shortly(messages, most_tokens)
        if wish:
            told = f"{told}\n\nThe person asks that the note pays special attention to: {wish}"
        request = ModelRequest(
            model=choice.name,
            system=prompt_text(_PROMPT),
            messages=(UserMessage(uuid4().hex, told),),
            api_base=choice.api_base,
        )
        reply = await plain_reply(self._client, request, self._meter, self._meter.add_apart)
        return reply.text


def told_shortly(messages: Iterable[Message], most_tokens: int) -> str:
    """Who said and did what, line by line; the middle is left out where it is too much."""
    return shortened_to("\n\n".join(_lines(messages)), most_tokens)


def _lines(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        match message:
            case UserMessage():
                yield f"{'PERSON' if message.is_typed else 'PROGRAM'}: {message.text}"
                for each in message.attachments:
                    yield f"ATTACHED {each.label}: {shortened(each.text, LONGEST_RESULT)}"
            case AssistantMessage():
                if message.text:
                    yield f"AGENT: {message.text}"
                for call in message.calls:
                    yield f"CALL {call.name}: {shortened(call.arguments, LONGEST_RESULT)}"
            case ToolMessage():
                yield f"RESULT of {message.tool}: {shortened(message.content, LONGEST_RESULT)}"
