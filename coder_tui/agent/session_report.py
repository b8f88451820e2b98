"""Report on a session: its tools, rules, cost and calls, and all of it as a document."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from coder_tui.agent.calls.permissions import Permissions
from coder_tui.agent.context.budget import context_sizes
from coder_tui.agent.context.compaction import ModelContext
from coder_tui.agent.pending import HeldAttachments
from coder_tui.agent.profiles.switch import ProfileSwitch
from coder_tui.agent.session_state import SessionContext
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
from coder_tui.skills.command_files import CommandFiles
from coder_tui.skills.session_skills import SessionSkills
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.ledger import PaidCall, PaidDay
from coder_tui.storage.store import DecisionRecord
from coder_tui.tools.registry import Entry, Registry

MOST_RECALLED = 500
MOST_BYTES = 50_000_000
_COMMANDS = frozenset({"bash", "bash_output"})
"""Tools whose results name a file of the program's own. The text of any other tool is not trusted."""


@dataclass(frozen=True, slots=True)
class SessionReport:
    session: SessionContext
    context: ModelContext
    permissions: Permissions
    profiles: ProfileSwitch
    registry: Registry
    skills: SessionSkills
    commands: CommandFiles
    """Slash commands from files."""
    attachments: HeldAttachments

    @property
    def policy(self) -> Policy:
        return self.permissions.policy

    @property
    def usage(self) -> UsageUpdated:
        return self.context.meter.snapshot()

    @property
    def cost(self) -> float | None:
        """Dollars so far; None if no price is known."""
        return self.context.meter.session.cost

    @property
    def spend_limit(self) -> float | None:
        return self.context.cap.limit

    @property
    def held(self) -> tuple[Attachment, ...]:
        """What goes to the model with the next message."""
        return self.attachments.all

    @property
    def data_directory(self) -> Path:
        """The folder of the store."""
        return self.session.store.path.parent

    def tools(self) -> tuple[Entry, ...]:
        """List the tools that the model sees, in the order of every listing."""
        profile = self.profiles.current
        offered = {tool.name for tool in self.registry.offered(traits_of(self.session.state.model))}
        tools = (entry for entry in self.registry.entries() if entry.tool.name in offered)
        return tuple(entry for entry in tools if profile.offers(entry.tool.name, entry.tool.kind))

    def sizes(self) -> dict[str, int]:
        """Estimate the tokens of the next request, by part."""
        return context_sizes(self.context.request, self.context.conversation.for_model)

    async def decisions(self) -> tuple[DecisionRecord, ...]:
        return await self.session.store.decisions.list(self.session.id)

    async def paid_calls(self) -> tuple[PaidCall, ...]:
        return await self.session.store.usage.calls(self.session.id)

    async def paid_days(self, most: int) -> tuple[PaidDay, ...]:
        return await self.session.store.usage.days(most)

    async def sent_before(self) -> tuple[str, ...]:
        """List the messages of this folder's sessions, oldest first."""
        return await self.session.store.messages.sent_before(self.session.info.directory, MOST_RECALLED)

    async def export(self, *, as_lines: bool = False) -> str:
        """Write the session as Markdown, or as JSON lines."""
        stored = await self.session.store.load(self.session.id)
        return to_jsonl(stored) if as_lines else to_markdown(stored)

    def last_reply(self) -> str:
        """Return the model's newest text; empty if there is none."""
        messages = self.context.conversation.backwards
        replies = (each.text for each in messages if isinstance(each, AssistantMessage))
        return next((text for text in replies if text.strip()), "")

    @property
    def finish(self) -> FinishReason:
        """How the model's newest reply ended."""
        messages = self.context.conversation.backwards
        replies = (each for each in messages if isinstance(each, AssistantMessage))
        return next((reply.finish for reply in replies), FinishReason.STOP)

    def call(self, call_id: str) -> ToolCall | None:
        """Find a call as the model wrote it.

        None for a call that a summary covers, for one inside another call, and for one of a sub-agent.
        """
        messages = reversed(self.context.conversation.recent)
        replies = (each for each in messages if isinstance(each, AssistantMessage))
        return next((call for reply in replies for call in reply.calls if call.id == call_id), None)

    def result(self, call_id: str) -> ToolMessage | None:
        """Find the result of such a call; None if it has none yet."""
        messages = reversed(self.context.conversation.recent)
        results = (each for each in messages if isinstance(each, ToolMessage))
        return next((result for result in results if result.call_id == call_id), None)

    def all_calls(self) -> dict[str, tuple[ToolCall, ToolMessage | None]]:
        """Map the ids of all calls of the session to the calls and their results."""
        messages = self.context.conversation.messages
        results = {each.call_id: each for each in messages if isinstance(each, ToolMessage)}
        replies = (each for each in messages if isinstance(each, AssistantMessage))
        return {call.id: (call, results.get(call.id)) for reply in replies for call in reply.calls}

    async def whole_output(self, call_id: str) -> str | None:
        """Read all that a command printed; None if its result was not cut."""
        return await asyncio.to_thread(whole_output, self.context.conversation.backwards, call_id)


def whole_output(newest_first: Iterable[Message], call_id: str) -> str | None:
    """Read the file that the call's result names; None if there is none. Blocks."""
    for message in newest_first:
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
        return None  # deleted since: what the block shows is all there is
