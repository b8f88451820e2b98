"""What a session can tell of itself, for commands that report; nothing here changes it."""

from pathlib import Path
from typing import TYPE_CHECKING

from coder_tui.agent.context_sizes import context_sizes
from coder_tui.llm.traits import traits_of
from coder_tui.policy.decide import Policy
from coder_tui.protocol.events import UsageUpdated
from coder_tui.protocol.messages import AssistantMessage, Attachment
from coder_tui.skills.command_shelf import CommandShelf
from coder_tui.skills.shelf import SkillShelf
from coder_tui.storage.export import to_jsonl, to_markdown
from coder_tui.storage.sessions import DecisionRecord
from coder_tui.storage.spending import PaidCall, PaidDay
from coder_tui.tools.registry import Entry, Registry

if TYPE_CHECKING:  # the session holds these facts
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
