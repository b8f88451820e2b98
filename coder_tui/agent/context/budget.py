"""Divide the context window, in tokens: how much is for what, and when it counts as full.

Also chooses which texts are kept word for word if there is room only for some.

What would fill the model's window with the next request, part by part.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.turn.model_request import RequestBuilder
from coder_tui.agent.turn.usage import last_context
from coder_tui.llm.client import estimate_message, estimate_request, estimate_tokens
from coder_tui.protocol.messages import Attachment, Message, ToolMessage, UserMessage
from coder_tui.skills.session_skills import PERMISSION as SKILL

PRUNE_AT = 0.70
SUMMARIZE_AT = 0.85
UNKNOWN_WINDOW = 32_000
"""Used if the model's window is not known: what is left then fits nearly every model."""
_LEAST_FREE = 1_000


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """`fixed` is what every request carries: instructions and tools. Shares are of what they leave."""

    window: int
    fixed: int = 0

    @property
    def free(self) -> int:
        return max(round(self.window * SUMMARIZE_AT) - self.fixed, _LEAST_FREE)

    @property
    def tail(self) -> int:
        """Of the newest messages, as they are."""
        return min(self.free * 27 // 100, 15_000)

    @property
    def words(self) -> int:
        """Of the user's own messages, with pins, next to a summary: a quarter of a large window."""
        return self.free * 30 // 100

    @property
    def summary(self) -> int:
        return self.free * 12 // 100

    @property
    def skills(self) -> int:
        return self.free * 10 // 100

    @property
    def list(self) -> int:
        """Of each list next to a summary: todos, changed files, problems."""
        return self.free * 3 // 100

    @property
    def note(self) -> int:
        """Of all that stands for the older messages."""
        return self.words + self.summary + self.skills + 3 * self.list

    @property
    def material(self) -> int:
        """Of what is sent to the model that writes a summary; the rest is for the summary."""
        return self.window * 70 // 100

    @property
    def protected(self) -> int:
        """Of the newest results, which are not left out."""
        return min(self.window // 5, 40_000)

    @property
    def worthwhile(self) -> int:
        """Leaving out less than this would only cost the provider's cache."""
        return min(self.window // 10, 20_000)


CUT = "\n[… cut …]\n"
LEAST_PIECE = 100
"""Tokens: less of a text than this says nothing."""


@dataclass(frozen=True, slots=True)
class Kept:
    """`texts` are in their order; the counts are of all that there were."""

    texts: tuple[str, ...] = ()
    whole: int = 0
    cut: int = 0
    left_out: int = 0

    @property
    def is_whole(self) -> bool:
        return not self.cut and not self.left_out


def kept(texts: Sequence[str], tokens: int) -> Kept:
    """The newest whole first; one that is too long is cut to half of the rest, so that others have some."""
    chosen: list[str] = []
    whole, left = 0, tokens
    for text in reversed(texts):
        size = estimate_tokens(text)
        if size <= left:
            whole += 1
        elif (size := left // 2) >= LEAST_PIECE:
            text = shortened_to(text, size)
        else:
            continue
        chosen.append(text)
        left -= size
    return Kept(tuple(reversed(chosen)), whole, len(chosen) - whole, len(texts) - len(chosen))


def shortened_to(text: str, tokens: int) -> str:
    """Head and tail of about so many tokens, whatever script it is in."""
    size = estimate_tokens(text)
    return text if size <= tokens else shortened(text, len(text) * tokens // size)


def shortened(text: str, most: int) -> str:
    """Keep head and tail: the beginning and the end matter more than what is between."""
    if len(text) <= most:
        return text
    half = max(0, (most - len(CUT)) // 2)
    return f"{text[:half]}{CUT}{text[len(text) - half :]}"


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
    """Tell apart typed text, attachments and the text of skills."""
    if isinstance(message, ToolMessage) and message.tool == SKILL:
        yield SKILLS, estimate_message(message)
        return
    attached = message.attachments if isinstance(message, UserMessage) else ()
    sizes = [(_kind(each), estimate_tokens(each.label + each.text)) for each in attached]
    yield _MESSAGES[message.role], estimate_message(message) - sum(size for _, size in sizes)
    yield from sizes


def _kind(attachment: Attachment) -> str:
    return SKILLS if attachment.label.startswith(f"{SKILL} ") else ATTACHED
