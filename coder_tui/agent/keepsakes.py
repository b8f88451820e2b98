"""What survives a compaction word for word: the person's messages, pins, todos, skills, changed files."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.agent.context_room import Room
from coder_tui.agent.conversation import Conversation
from coder_tui.agent.kept_words import Kept, kept, shortened_to
from coder_tui.agent.review import name_of
from coder_tui.agent.session_changes import SessionChanges
from coder_tui.llm.tokens import estimate_tokens
from coder_tui.protocol.messages import Attachment, Message, ToolMessage, UserMessage
from coder_tui.protocol.todos import TodoItem
from coder_tui.skills.shelf import PERMISSION as SKILL

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
