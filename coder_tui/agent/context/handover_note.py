"""What survives a compaction word for word: the person's messages, pins, todos, skills, changed files.

Has a model write down what a conversation came to, in few words.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from coder_tui.agent.context.budget import Kept, Room, kept, shortened, shortened_to
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.profiles.profiles import prompt_text
from coder_tui.agent.turn.model_call import plain_reply
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.agent.undo.file_changes import SessionChanges
from coder_tui.agent.undo.review import name_of
from coder_tui.llm.client import ModelClient, ModelRequest
from coder_tui.llm.tokens import estimate_tokens
from coder_tui.protocol.messages import AssistantMessage, Attachment, Message, ToolMessage, UserMessage
from coder_tui.protocol.todos import TodoItem
from coder_tui.skills.session_skills import PERMISSION as SKILL

MOST_FILES = 200
_SKILL_TEXT = "<skill "
_FRAME = re.compile(r"<(?=/?(?:summary|pinned|person|todos|changed_files|open_problems|skills)>)")
_HEAD = (
    "Earlier messages of this session were replaced by this note to save room. It is your own handover: "
    "go on from here, and read files again where you need them."
)


@dataclass(frozen=True, slots=True)
class Carried:
    """What a note carries on word for word, or cut where that is too much."""

    words: Kept
    pins: Kept
    skills: Kept


@dataclass(frozen=True, slots=True)
class Keepsakes:
    """Writes the message that stands for everything before the tail."""

    conversation: Conversation
    changes: SessionChanges
    root: Path
    todos: Callable[[], tuple[TodoItem, ...]]
    pins: Callable[[], Awaitable[tuple[str, ...]]]
    problems: Callable[[], str] = str

    async def carried(self, last_id: str, room: Room) -> Carried:
        """What of the person's words, pins and skills up to this message there is room for."""
        before = self._before(last_id)
        pins = kept([f"- {pin}" for pin in await self.pins()], room.words)
        taken = sum(map(estimate_tokens, pins.texts))
        return Carried(
            words=kept(list(_person(before)), room.words - taken),
            pins=pins,
            skills=kept(list(_skills(before)), room.skills),
        )

    async def note(self, last_id: str, summary: str, room: Room) -> str:
        carried = await self.carried(last_id, room)
        todos = "\n".join(f"- [{item.status}] {item.content}" for item in self.todos())
        parts = (
            ("", _HEAD),
            ("summary", shortened_to(summary, room.summary)),
            ("pinned", "\n".join(carried.pins.texts)),
            ("person", _told(carried.words, "the person's messages")),
            ("todos", shortened_to(todos, room.list)),
            ("changed_files", shortened_to("\n".join(await self._changed()), room.list)),
            ("open_problems", shortened_to(self.problems(), room.list)),
            ("skills", _told(carried.skills, "the loaded skills")),
        )
        return "\n\n".join(_tagged(name, text) for name, text in parts if text)

    def _before(self, last_id: str) -> tuple[Message, ...]:
        """What may survive of the conversation up to there, with what an earlier summary stands for.

        Looked at one by one: to have all of a long session at hand takes memory that is never given back.
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
        return [name_of(file.path, self.root) for file in files[:MOST_FILES]]


def _tagged(name: str, text: str) -> str:
    """No part can end itself and begin another: a summary must not put words into the person's mouth."""
    if not name:
        return text
    inner = _FRAME.sub("<\\\\", text)
    return f"<{name}>\n{inner}\n</{name}>"


def _told(found: Kept, what: str) -> str:
    """In their order; that something is missing is said first."""
    if found.is_whole:
        return "\n\n".join(found.texts)
    missing = f"[Of {what} {found.whole} are whole, {found.cut} are cut and {found.left_out} are left out.]"
    return "\n\n".join((missing, *found.texts))


def _person(messages: Iterable[Message]) -> Iterator[str]:
    """What they typed; what they attached is named, since it can be read again."""
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
