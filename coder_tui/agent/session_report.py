"""What a session can tell of itself, for commands that report; nothing here changes it.

What can be read of a session afterwards: all of it as a document, what was cut, what it cost.

Finds all that a command printed, where its result holds a part of it only.
"""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.agent.context.budget import context_sizes
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.llm.traits import traits_of
from coder_tui.policy.decide import Policy
from coder_tui.protocol.events import UsageUpdated
from coder_tui.protocol.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    Message,
    ToolCall,
    ToolMessage,
)
from coder_tui.skills.command_files import CommandShelf
from coder_tui.skills.session_skills import SkillShelf
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.ledger import PaidCall, PaidDay
from coder_tui.storage.store import DecisionRecord, Store
from coder_tui.tools.registry import Entry, Registry

if TYPE_CHECKING:
    from coder_tui.agent.session import SessionParts


MOST_RECALLED = 500


class SessionFacts:
    def __init__(self, parts: "SessionParts") -> None:
        self._parts = parts

    @property
    def policy(self) -> Policy:
        return self._parts.desk.policy

    @property
    def usage(self) -> UsageUpdated:
        return self._parts.services.meter.snapshot()

    @property
    def registry(self) -> Registry:
        return self._parts.services.runner.registry

    @property
    def skills(self) -> SkillShelf:
        return self._parts.skills

    @property
    def commands(self) -> CommandShelf:
        """Those that people keep in files."""
        return self._parts.commands

    @property
    def held(self) -> tuple[Attachment, ...]:
        """What goes to the model with the next message."""
        return self._parts.services.held.all

    def tools(self) -> tuple[Entry, ...]:
        """The tools that the model sees, in the order of every listing."""
        profile = self._parts.profiles.current
        offered = {tool.name for tool in self.registry.offered(traits_of(self._parts.state.model))}
        tools = (entry for entry in self.registry.entries() if entry.tool.name in offered)
        return tuple(entry for entry in tools if profile.offers(entry.tool.name, entry.tool.kind))

    async def decisions(self) -> tuple[DecisionRecord, ...]:
        return await self._parts.store.decisions(self._parts.info.id)

    @property
    def spend_limit(self) -> float | None:
        return self._parts.services.cap.limit

    async def paid_calls(self) -> tuple[PaidCall, ...]:
        return await self._parts.store.paid_calls(self._parts.info.id)

    async def paid_days(self, most: int) -> tuple[PaidDay, ...]:
        return await self._parts.store.paid_days(most)

    async def sent_before(self) -> tuple[str, ...]:
        """Messages of this folder's sessions, oldest first."""
        return await self._parts.store.sent_before(self._parts.info.directory, MOST_RECALLED)

    async def exported(self, *, as_lines: bool) -> str:
        stored = await self._parts.store.load(self._parts.info.id)
        return to_jsonl(stored) if as_lines else to_markdown(stored)

    @property
    def data_directory(self) -> Path:
        """Where the store lies."""
        return self._parts.store.path.parent

    def last_reply(self) -> str:
        """The newest words of the model; empty where it said none."""
        messages = self._parts.services.conversation.backwards
        replies = (message.text for message in messages if isinstance(message, AssistantMessage))
        return next((text for text in replies if text.strip()), "")

    def sizes(self) -> dict[str, int]:
        """Tokens that the next request would hold, by part, roughly counted."""
        services = self._parts.services
        return context_sizes(services.request, services.conversation.for_model)


MOST_BYTES = 50_000_000
_COMMANDS = frozenset({"bash", "bash_output"})
"""Tools whose results name a file of the program's own; another tool's words are not to be trusted."""


def whole_output(backwards: Iterable[Message], call_id: str) -> str | None:
    """The text of the file that the call's result names; None where there is none. Blocks.

    The newest message comes first.
    """
    for message in backwards:
        if isinstance(message, ToolMessage) and message.call_id == call_id:
            return _read(message.content) if message.tool in _COMMANDS else None
    return None


def _read(content: str) -> str | None:
    try:
        result = json.loads(content)
        path = result.get("output_file") if isinstance(result, dict) else None
        if not isinstance(path, str):
            return None
        with Path(path).open("rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None  # gone since: what the block holds is all there is


@dataclass(frozen=True, slots=True)
class SessionRecord:
    session_id: str
    store: Store
    conversation: Conversation
    meter: UsageMeter

    @property
    def cost(self) -> float | None:
        """Dollars so far; None where no price is known."""
        return self.meter.session.cost

    @property
    def finish(self) -> FinishReason:
        """How the model's newest reply ended."""
        replies = (each for each in self.conversation.backwards if isinstance(each, AssistantMessage))
        return next((reply.finish for reply in replies), FinishReason.STOP)

    def call(self, call_id: str) -> ToolCall | None:
        """A call as the model wrote it, of those that no summary stands for.

        None for one inside of another, or of a sub-agent.
        """
        replies = (each for each in reversed(self.conversation.recent) if isinstance(each, AssistantMessage))
        return next((call for reply in replies for call in reply.calls if call.id == call_id), None)

    def result(self, call_id: str) -> ToolMessage | None:
        """What the model was told of such a call; None before that."""
        results = (each for each in reversed(self.conversation.recent) if isinstance(each, ToolMessage))
        return next((result for result in results if result.call_id == call_id), None)

    def all_calls(self) -> dict[str, tuple[ToolCall, ToolMessage | None]]:
        """Those of the whole session with what the model was told, by their ids."""
        messages = self.conversation.messages
        results = {each.call_id: each for each in messages if isinstance(each, ToolMessage)}
        replies = (each for each in messages if isinstance(each, AssistantMessage))
        return {call.id: (call, results.get(call.id)) for reply in replies for call in reply.calls}

    async def markdown(self) -> str:
        """What was said and done, in order."""
        return to_markdown(await self.store.load(self.session_id))

    async def whole_output(self, call_id: str) -> str | None:
        """All that a command printed, where its result was cut; None where it was not."""
        return await asyncio.to_thread(whole_output, self.conversation.backwards, call_id)
