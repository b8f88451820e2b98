"""What a session is called: its first words, until there is a better name."""

from dataclasses import dataclass

from coder_tui.agent.background import Background
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.titles import TitleWriter, first_words
from coder_tui.llm.traits import traits_of
from coder_tui.protocol.events import SessionRenamed
from coder_tui.storage.sessions import Store


@dataclass(slots=True)
class SessionState:
    """What changes while a session lives, shared with the parts that read it."""

    model: str
    title: str
    turn: int = 0

    def sees_images(self) -> bool:
        return traits_of(self.model).sees_images


@dataclass(frozen=True, slots=True)
class SessionName:
    session_id: str
    store: Store
    bus: EventBus
    state: SessionState
    titles: TitleWriter
    background: Background

    async def name_after(self, text: str) -> None:
        if not self.state.title:
            await self.rename(first_words(text))
            self.background.start(self._find_better(text))

    async def rename(self, title: str) -> None:
        await self.store.rename(self.session_id, title)
        self.state.title = title
        self.bus.publish(SessionRenamed(title))

    async def _find_better(self, text: str) -> None:
        given = self.state.title
        title = await self.titles.title(text)
        # A name that the person gave meanwhile is better than any that was made up.
        if title and self.state.title == given:
            await self.rename(title)
