"""Brings along the skills that a person calls: without a question, unless a rule denies them."""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator

from coder_tui.agent.attachments.files import NOT_ATTACHED
from coder_tui.protocol.messages import Attachment, Message, ToolMessage, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.skills.session_skills import (
    PERMISSION,
    SkillError,
    SkillShelf,
    called_by_slash,
    may_call,
    named_in,
)
from coder_tui.skills.skill import Skill
from coder_tui.text.redact import Redactor

_LABEL = f"{PERMISSION} "
_TEXT = "<skill "
LOADED_BEFORE = "(The person calls this skill again; its text stands earlier in this conversation.)"


class SkillCalls:
    """`notify` reaches the person where a skill that they called cannot come along."""

    def __init__(
        self, shelf: SkillShelf, redact: Redactor, notify: Callable[[NoticeLevel, str], None]
    ) -> None:
        self._shelf = shelf
        self._redact = redact
        self._notify = notify

    async def of(self, text: str) -> tuple[Attachment, ...]:
        """What the message calls, each once."""
        if not may_call(text):
            return ()
        skills = await self._known()
        called = called_by_slash(text, skills)
        others = (skill for skill in named_in(text, skills) if skill is not called)
        # One by one: their order is that of the conversation.
        found = [
            await self._attached(skill, is_explicit=skill is called) for skill in (called, *others) if skill
        ]
        return tuple(each for each in found if each is not None)

    async def _known(self) -> tuple[Skill, ...]:
        """Those of now, and those of before: of one that broke or is gone the person shall learn why."""
        before = {skill.name: skill for skill in self._shelf.found.skills}
        await asyncio.to_thread(self._shelf.refresh)
        return tuple((before | {skill.name: skill for skill in self._shelf.found.skills}).values())

    async def _attached(self, skill: Skill, *, is_explicit: bool) -> Attachment | None:
        label = f"{_LABEL}{skill.name}"
        if self._shelf.is_denied(skill.name):
            verdict = self._shelf.verdict(skill.name)
            return self._refused(label, skill, f"denied by {verdict.rule}, from {verdict.source}")
        if self._shelf.is_loaded(skill.name):
            return Attachment(label, LOADED_BEFORE) if is_explicit else None
        try:
            loaded = await asyncio.to_thread(self._shelf.load, skill)
        except SkillError as error:
            return self._refused(label, skill, str(error))
        return Attachment(label, self._redact.known(loaded.text))

    def _refused(self, label: str, skill: Skill, reason: str) -> Attachment:
        self._notify(NoticeLevel.WARNING, f"The skill {skill.name} is not loaded: {reason}")
        return Attachment(label, f"{NOT_ATTACHED}{reason})")


def loaded_skills(messages: Iterable[Message]) -> tuple[str, ...]:
    """The names of the skills whose text a conversation holds, in the order in which they came."""
    return tuple(dict.fromkeys(name for message in messages for name in _loaded_in(message)))


def _loaded_in(message: Message) -> Iterator[str]:
    match message:
        case UserMessage():
            for each in message.attachments:
                if each.label.startswith(_LABEL) and each.text.startswith(_TEXT):
                    yield each.label.removeprefix(_LABEL)
        case ToolMessage() if message.tool == PERMISSION:
            try:
                result = json.loads(message.content)
            except ValueError:
                return
            if str(result.get("content", "")).startswith(_TEXT):
                yield str(result["name"])
        case _:
            return
