"""What survives a compaction word for word: the person's messages, pins, todos, skills, changed files."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from coder_tui.agent.conversation import Conversation
from coder_tui.agent.review import name_of
from coder_tui.agent.session_changes import SessionChanges
from coder_tui.agent.summary import shortened
from coder_tui.llm.tokens import estimate_tokens
from coder_tui.protocol.messages import Message, ToolMessage, UserMessage
from coder_tui.protocol.todos import TodoItem
from coder_tui.skills.shelf import PERMISSION as SKILL

MOST_WORDS = 12_000
"""Tokens of the person's own messages; of older ones the newest are kept."""
LONGEST_MESSAGE = 8_000
MOST_FILES = 200
_SKILL_TEXT = "<skill "
_FRAME = re.compile(r"<(?=/?(?:summary|pinned|person|todos|changed_files|open_problems|skills)>)")
_HEAD = (
    "Earlier messages of this session were replaced by this note to save room. It is your own handover: "
    "go on from here, and read files again where you need them."
)


@dataclass(frozen=True, slots=True)
class Keepsakes:
    """Writes the message that stands for everything before the tail."""

    conversation: Conversation
    changes: SessionChanges
    root: Path
    todos: Callable[[], tuple[TodoItem, ...]]
    pins: Callable[[], Awaitable[tuple[str, ...]]]
    problems: Callable[[], str] = str

    async def __call__(self, going: tuple[Message, ...], summary: str) -> str:
        before = self._before(going[-1].id)
        parts = (
            ("", _HEAD),
            ("summary", summary),
            ("pinned", "\n".join(f"- {pin}" for pin in await self.pins())),
            ("person", "\n\n".join(_person(before))),
            ("todos", "\n".join(f"- [{item.status}] {item.content}" for item in self.todos())),
            ("changed_files", "\n".join(await self._changed())),
            ("open_problems", self.problems()),
            ("skills", "\n\n".join(_skills(before))),
        )
        return "\n\n".join(_tagged(name, text) for name, text in parts if text)

    def _before(self, last_id: str) -> tuple[Message, ...]:
        """The whole conversation up to there, with what an earlier summary stands for."""
        messages = self.conversation.messages
        ends = [place for place, message in enumerate(messages) if message.id == last_id]
        return messages[: ends[-1] + 1] if ends else ()

    async def _changed(self) -> list[str]:
        files = await self.changes.files()
        return [name_of(file.path, self.root) for file in files[:MOST_FILES]]


def _tagged(name: str, text: str) -> str:
    """No part can end itself and begin another: a summary must not put words into the person's mouth."""
    if not name:
        return text
    inner = _FRAME.sub("<\\\\", text)
    return f"<{name}>\n{inner}\n</{name}>"


def _person(messages: Iterable[Message]) -> Iterator[str]:
    """In their order; where there is too much the oldest are left out, and that is said."""
    kept: list[str] = []
    size = 0
    said = [message.text for message in messages if isinstance(message, UserMessage)]
    for text in reversed(said):
        size += estimate_tokens(text[:LONGEST_MESSAGE])
        if size > MOST_WORDS:
            yield f"[{len(said) - len(kept)} older messages are left out]"
            break
        kept.append(shortened(text, LONGEST_MESSAGE))
    yield from reversed(kept)


def _skills(messages: Iterable[Message]) -> Iterator[str]:
    """The texts of loaded skills, each once."""
    texts = (text for message in messages for text in _texts_of(message))
    yield from dict.fromkeys(text for text in texts if text.startswith(_SKILL_TEXT))


def _texts_of(message: Message) -> Iterator[str]:
    match message:
        case UserMessage():
            yield from (each.text for each in message.attachments if each.label.startswith(f"{SKILL} "))
        case ToolMessage() if message.tool == SKILL:
            try:
                yield str(json.loads(message.content).get("content", ""))
            except ValueError:
                return
        case _:
            return
