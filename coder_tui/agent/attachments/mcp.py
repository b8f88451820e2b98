"""Brings along what a message names of MCP servers: a prompt at its beginning, resources anywhere in it."""

from collections.abc import Iterator

from coder_tui.agent.attachments.files import NOT_ATTACHED
from coder_tui.agent.calls.permissions import Notify
from coder_tui.agent.mcp_session import McpDesk
from coder_tui.mcp.prompts import PromptArgumentsError
from coder_tui.mcp.servers import server_part
from coder_tui.mcp.wire import Answer
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.mentions import Mention, find_mentions
from coder_tui.text.redact import Redactor
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.mcp import UNTRUSTED, told_text

MOST_RESOURCES = 20
MOST_TEXT = 20_000
"""Characters in which names are looked for: what is longer was pasted, and names nothing on purpose."""
LONGEST = 50_000


class McpMentions:
    """`notify` reaches the person where something that they named cannot come along."""

    def __init__(self, desk: McpDesk, redact: Redactor, notify: Notify) -> None:
        self._desk = desk
        self._redact = redact
        self._notify = notify

    async def of(self, text: str) -> tuple[Attachment, ...]:
        if not self._desk.pool.views:
            return ()
        found = [*await self._prompt(text)]
        for label, server, uri in tuple(self._resources(text))[:MOST_RESOURCES]:
            found.append(self._attached(label, server, await self._desk.pool.read(server, uri)))
        return tuple(found)

    async def _prompt(self, text: str) -> tuple[Attachment, ...]:
        word, _, rest = text.strip().partition(" ")
        prompt = next((each for each in self._desk.prompts if f"/{each.command}" == word.lower()), None)
        if prompt is None:
            return ()
        label = f"prompt {prompt.command}"
        try:
            arguments = prompt.filled(rest)
        except PromptArgumentsError as error:
            return (self._refused(label, str(error)),)
        answer = await self._desk.pool.prompt(prompt.server, prompt.info.name, arguments)
        return (self._attached(label, prompt.server, answer),)

    def _resources(self, text: str) -> Iterator[tuple[str, str, str]]:
        """Each once: how it was named, its server and its address."""
        servers = {server_part(view.name): view.name for view in self._desk.pool.views}
        offered = {label for label, _ in self._desk.resources}
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
        text = told_text(answer.parts)
        more = f"\n(cut here; {len(text) - LONGEST} more characters)" if len(text) > LONGEST else ""
        note = UNTRUSTED.format(server=server) if not label.startswith("prompt ") else ""
        return Attachment(label, f"{note}\n{self._redact.known(text[:LONGEST])}{more}".lstrip())

    def _refused(self, label: str, reason: str) -> Attachment:
        line = safe_line(reason)
        self._notify(NoticeLevel.WARNING, f"{safe_line(label)} is not attached: {line}")
        return Attachment(label, f"{NOT_ATTACHED}{line})")


def _meant(readings: tuple[Mention, ...], offered: set[str]) -> str:
    """The reading that a server offers; else without the full stop of the sentence, and with all numbers."""
    known = (mention.path for mention in readings if mention.path in offered)
    plain = [mention.path for mention in readings if not mention.first]
    return next(known, plain[-1] if plain else readings[0].path)
