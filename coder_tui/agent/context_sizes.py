"""What would fill the model's window with the next request, part by part."""

from collections.abc import Iterable, Iterator

from coder_tui.agent.conversation import Conversation
from coder_tui.agent.request_builder import RequestBuilder
from coder_tui.agent.usage_meter import last_context
from coder_tui.llm.tokens import estimate_message, estimate_request, estimate_tokens
from coder_tui.protocol.messages import Attachment, Message, ToolMessage, UserMessage
from coder_tui.skills.shelf import PERMISSION as SKILL

SKILLS = "skills"
TOOLS = "tool definitions"
ATTACHED = "attached files"
_MESSAGES = {"user": "your messages", "assistant": "replies and calls", "tool": "tool results"}


def context_sizes(request: RequestBuilder, messages: Iterable[Message]) -> dict[str, int]:
    """Tokens by part, roughly counted, in the order in which they are sent."""
    sizes: dict[str, int] = {TOOLS: sum(estimate_tokens(str(tool)) for tool in request(()).tools)}
    for part in request.parts():
        _add(sizes, part.name, estimate_tokens(part.text))
    for message in messages:
        for name, size in _of_message(message):
            _add(sizes, name, size)
    return sizes


def filled_by(conversation: Conversation, request: RequestBuilder) -> int:
    """How full the window is: as the newest reply was counted, or less where room was made since."""
    counted = last_context(conversation.messages)
    if not conversation.compactions:
        return counted
    return min(counted, estimate_request(request(conversation.for_model)))


def _add(sizes: dict[str, int], name: str, size: int) -> None:
    sizes[name] = sizes.get(name, 0) + size


def _of_message(message: Message) -> Iterator[tuple[str, int]]:
    """What comes along with a person's words, and a skill's text, are told apart."""
    if isinstance(message, ToolMessage) and message.tool == SKILL:
        yield SKILLS, estimate_message(message)
        return
    attached = message.attachments if isinstance(message, UserMessage) else ()
    sizes = [(_kind(each), estimate_tokens(each.label + each.text)) for each in attached]
    yield _MESSAGES[message.role], estimate_message(message) - sum(size for _, size in sizes)
    yield from sizes


def _kind(attachment: Attachment) -> str:
    return SKILLS if attachment.label.startswith(f"{SKILL} ") else ATTACHED
