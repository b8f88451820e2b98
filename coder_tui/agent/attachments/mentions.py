"""Attach what a message names: skills, and prompts and resources of MCP servers.

A skill that the user calls needs no question, unless a rule denies it.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from coder_tui.agent.attachments.files import NOT_ATTACHED
from coder_tui.agent.calls.permissions import Notify
from coder_tui.agent.mcp_session import SessionMcp
from coder_tui.mcp.servers import PromptArgumentsError, server_part
from coder_tui.mcp.wire import Answer
from coder_tui.protocol.messages import Attachment, Message, ToolMessage, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.skills.session_skills import (
    PERMISSION,
    SessionSkills,
    SkillError,
    called_by_slash,
    may_call,
    named_in,
)
from coder_tui.skills.skill import Skill
from coder_tui.text.mentions import Mention, find_mentions
from coder_tui.text.redact import Redactor
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.mcp import UNTRUSTED, text_of_parts

_LABEL = f"{PERMISSION} "
_TEXT = "<skill "
LOADED_BEFORE = "(The user calls this skill again; its text is earlier in this conversation.)"


@dataclass(frozen=True, slots=True)
class SkillCalls:
    """`notify` reaches the user where a skill that they called cannot come along."""

    skills: SessionSkills
    redact: Redactor
    notify: Callable[[NoticeLevel, str], None]

    async def attach(self, text: str) -> tuple[Attachment, ...]:
        """Return what the message calls, each once."""
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
        """Return present and earlier skills, so that the user learns why one cannot be loaded any more."""
        before = {skill.name: skill for skill in self.skills.found.skills}
        await asyncio.to_thread(self.skills.refresh)
        return tuple((before | {skill.name: skill for skill in self.skills.found.skills}).values())

    async def _attached(self, skill: Skill, *, is_explicit: bool) -> Attachment | None:
        label = f"{_LABEL}{skill.name}"
        if self.skills.is_denied(skill.name):
            verdict = self.skills.verdict(skill.name)
            return self._refused(label, skill, f"denied by {verdict.rule}, from {verdict.source}")
        if self.skills.is_loaded(skill.name):
            return Attachment(label, LOADED_BEFORE) if is_explicit else None
        try:
            loaded = await asyncio.to_thread(self.skills.load, skill)
        except SkillError as error:
            return self._refused(label, skill, str(error))
        return Attachment(label, self.redact.known(loaded.text))

    def _refused(self, label: str, skill: Skill, reason: str) -> Attachment:
        self.notify(NoticeLevel.WARNING, f"The skill {skill.name} is not loaded: {reason}")
        return Attachment(label, f"{NOT_ATTACHED}{reason})")


def loaded_skills(messages: Iterable[Message]) -> tuple[str, ...]:
    """Return the names of the skills that are loaded in a conversation, in order."""
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


MOST_RESOURCES = 20
MOST_TEXT = 20_000
"""Characters in which names are looked for: what is longer was pasted, and names nothing on purpose."""
LONGEST = 50_000


@dataclass(frozen=True, slots=True)
class McpMentions:
    """`notify` reaches the user where something that they named cannot come along."""

    servers: SessionMcp
    redact: Redactor
    notify: Notify

    async def attach(self, text: str) -> tuple[Attachment, ...]:
        if not self.servers.pool.views:
            return ()
        found = [*await self._prompt(text)]
        for label, server, uri in tuple(self._resources(text))[:MOST_RESOURCES]:
            found.append(self._attached(label, server, await self.servers.pool.read(server, uri)))
        return tuple(found)

    async def _prompt(self, text: str) -> tuple[Attachment, ...]:
        word, _, rest = text.strip().partition(" ")
        prompt = next((each for each in self.servers.prompts if f"/{each.command}" == word.lower()), None)
        if prompt is None:
            return ()
        label = f"prompt {prompt.command}"
        try:
            arguments = prompt.filled(rest)
        except PromptArgumentsError as error:
            return (self._refused(label, str(error)),)
        answer = await self.servers.pool.prompt(prompt.server, prompt.info.name, arguments)
        return (self._attached(label, prompt.server, answer),)

    def _resources(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Each once: how it was named, its server and its address."""
        servers = {server_part(view.name): view.name for view in self.servers.pool.views}
        offered = {label for label, _ in self.servers.resources}
        seen: set[str] = set()
        for readings in find_mentions(text[:MOST_TEXT]):
            label = _meant(readings, offered)
            part, colon, uri = label.partition(":")
            if colon and uri and part in servers and label not in seen:
                seen.add(label)
                yield label, servers[part], uri

    def _attached(self, label: str, server: str, answer: Answer) -> Attachment:
        if answer.failure is not None:
            return self._refused(label, f"MCP server {server}: {answer.detail}")
        text = text_of_parts(answer.parts)
        more = f"\n(cut here; {len(text) - LONGEST} more characters)" if len(text) > LONGEST else ""
        note = UNTRUSTED.format(server=server) if not label.startswith("prompt ") else ""
        return Attachment(label, f"{note}\n{self.redact.known(text[:LONGEST])}{more}".lstrip())

    def _refused(self, label: str, reason: str) -> Attachment:
        line = safe_line(reason)
        self.notify(NoticeLevel.WARNING, f"{safe_line(label)} is not attached: {line}")
        return Attachment(label, f"{NOT_ATTACHED}{line})")


def _meant(readings: tuple[Mention, ...], offered: set[str]) -> str:
    """The reading that a server offers; else without the full stop of the sentence, and with all numbers."""
    known = (mention.path for mention in readings if mention.path in offered)
    plain = [mention.path for mention in readings if not mention.first]
    return next(known, plain[-1] if plain else readings[0].path)
