"""Write the note that replaces old messages: a model's summary, and what is kept word for word."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from coder_tui.agent.context.budget import Kept, TokenBudget, kept, shortened, shortened_to
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.profiles.profiles import prompt_text
from coder_tui.agent.turn.model_call import one_shot_reply
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.llm.client import ModelClient, ModelRequest, estimate_tokens
from coder_tui.protocol.messages import AssistantMessage, Attachment, Message, ToolMessage, UserMessage
from coder_tui.protocol.todos import TodoItem
from coder_tui.skills.session_skills import PERMISSION as SKILL
from coder_tui.workspace.files.confine import relative_name

MOST_FILES = 200
_SKILL_TEXT = "<skill "
_FRAME = re.compile(r"<(?=/?(?:summary|pinned|user|todos|changed_files|open_problems|skills)>)")
_HEAD = (
    "Earlier messages of this session were replaced by this note to save room. It is your own handover: "
    "go on from here, and read files again where you need them."
)


@dataclass(frozen=True, slots=True)
class Carried:
    """What a note keeps word for word, or cut if it is too long."""

    words: Kept
    pins: Kept
    skills: Kept


@dataclass(frozen=True, slots=True)
class HandoverNote:
    """Writes the message that replaces everything before the newest messages."""

    conversation: Conversation
    changes: SessionChanges
    root: Path
    todos: Callable[[], tuple[TodoItem, ...]]
    pins: Callable[[], Awaitable[tuple[str, ...]]]
    problems: Callable[[], str] = str

    async def carried(self, last_id: str, budget: TokenBudget) -> Carried:
        """Return the user's messages, pins and skills up to this message, as far as there is room."""
        before = self._before(last_id)
        pins = kept([f"- {pin}" for pin in await self.pins()], budget.words)
        taken = sum(map(estimate_tokens, pins.texts))
        return Carried(
            words=kept(list(_typed_messages(before)), budget.words - taken),
            pins=pins,
            skills=kept(list(_skills(before)), budget.skills),
        )

    async def note(self, last_id: str, summary: str, budget: TokenBudget) -> str:
        carried = await self.carried(last_id, budget)
        todos = "\n".join(f"- [{item.status}] {item.content}" for item in self.todos())
        parts = (
            ("", _HEAD),
            ("summary", shortened_to(summary, budget.summary)),
            ("pinned", "\n".join(carried.pins.texts)),
            ("user", _listed(carried.words, "the user's messages")),
            ("todos", shortened_to(todos, budget.list)),
            ("changed_files", shortened_to("\n".join(await self._changed()), budget.list)),
            ("open_problems", shortened_to(self.problems(), budget.list)),
            ("skills", _listed(carried.skills, "the loaded skills")),
        )
        return "\n\n".join(_tagged(name, text) for name, text in parts if text)

    def _before(self, last_id: str) -> tuple[Message, ...]:
        """Return the messages up to there that may be kept, including those that an earlier summary covers.

        One by one: all messages of a long session at once take memory that is never released.
        """
        found: list[Message] = []
        is_before = False
        for message in self.conversation.backwards:
            is_before = is_before or message.id == last_id
            if is_before and (isinstance(message, UserMessage) or _is_loading(message)):
                found.append(message)
        return tuple(reversed(found))

    async def _changed(self) -> list[str]:
        files = await self.changes.files()
        return [relative_name(file.path, self.root) for file in files[:MOST_FILES]]


def _tagged(name: str, text: str) -> str:
    """Wrap a part in a tag that its text cannot close: a summary must not forge the user's messages."""
    if not name:
        return text
    inner = _FRAME.sub("<\\\\", text)
    return f"<{name}>\n{inner}\n</{name}>"


def _listed(found: Kept, what: str) -> str:
    """Join the texts in order; if some are missing, say so first."""
    if found.is_whole:
        return "\n\n".join(found.texts)
    missing = f"[Of {what} {found.whole} are whole, {found.cut} are cut and {found.left_out} are left out.]"
    return "\n\n".join((missing, *found.texts))


def _typed_messages(messages: Iterable[Message]) -> Iterator[str]:
    """Yield what the user typed; attachments are only named, as they can be read again."""
    for message in messages:
        if isinstance(message, UserMessage) and message.is_typed:
            labels = [each.label for each in message.attachments if not _is_skill(each)]
            attached = f"\n[attached then: {', '.join(labels)}]" if labels else ""
            yield f"{message.text}{attached}"


def _skills(messages: Iterable[Message]) -> Iterator[str]:
    """The texts of loaded skills, each once."""
    texts = (text for message in messages for text in _texts_of(message))
    yield from dict.fromkeys(text for text in texts if text.startswith(_SKILL_TEXT))


def _is_loading(message: Message) -> bool:
    return isinstance(message, ToolMessage) and message.tool == SKILL


def _texts_of(message: Message) -> Iterator[str]:
    match message:
        case UserMessage():
            yield from (each.text for each in message.attachments if _is_skill(each))
        case ToolMessage() if message.tool == SKILL:
            try:
                yield str(json.loads(message.content).get("content", ""))
            except ValueError:
                return
        case _:
            return


def _is_skill(attachment: Attachment) -> bool:
    return attachment.label.startswith(f"{SKILL} ")


LONGEST_RESULT = 2_000
"""Characters of a tool's result that are worth summarizing."""
_PROMPT = "compact"


@dataclass(frozen=True, slots=True)
class Summarizer:
    """Has a model summarize messages."""

    client: ModelClient
    meter: UsageMeter

    async def summarize(
        self, messages: Iterable[Message], choice: ModelChoice, most_tokens: int, wish: str = ""
    ) -> str:
        """Return a model's summary, which is paid for; empty if it wrote nothing."""
        text = shorten_messages(messages, most_tokens)
        if wish:
            text = f"{text}\n\nThe user asks that the note pays special attention to: {wish}"
        request = ModelRequest(
            model=choice.name,
            system=prompt_text(_PROMPT),
            messages=(UserMessage(uuid4().hex, text),),
            api_base=choice.api_base,
        )
        reply = await one_shot_reply(self.client, request, self.meter, self.meter.add_detached)
        return reply.text


def shorten_messages(messages: Iterable[Message], most_tokens: int) -> str:
    """Write the messages as a transcript; leave out the middle if it is too long."""
    return shortened_to("\n\n".join(_lines(messages)), most_tokens)


def _lines(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        match message:
            case UserMessage():
                yield f"{'USER' if message.is_typed else 'PROGRAM'}: {message.text}"
                for each in message.attachments:
                    yield f"ATTACHED {each.label}: {shortened(each.text, LONGEST_RESULT)}"
            case AssistantMessage():
                if message.text:
                    yield f"AGENT: {message.text}"
                for call in message.calls:
                    yield f"CALL {call.name}: {shortened(call.arguments, LONGEST_RESULT)}"
            case ToolMessage():
                yield f"RESULT of {message.tool}: {shortened(message.content, LONGEST_RESULT)}"
