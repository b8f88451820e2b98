"""A sub-agent's conversation on a page, which grows while the agent works."""

from collections.abc import Callable

from coder_tui.agent.session import Session
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Event, MessageFinished, SubagentEvent, ToolFinished, ToolStarted
from coder_tui.protocol.subagents import ChildLine
from coder_tui.ui.drawing.child_entries import child_entries
from coder_tui.ui.drawing.entries import Entry
from coder_tui.ui.drawing.glyphs import Glyphs
from coder_tui.ui.motion import Pacer
from coder_tui.ui.screens.pager import PagerScreen


class ChildPage(PagerScreen):
    """Entries keep their places: a call that ends changes where it stands, what is new comes below."""

    def __init__(
        self,
        line: ChildLine,
        session: Session,
        glyphs: Glyphs,
        copy: Callable[[str], None],
        edit: Callable[[str], None],
    ) -> None:
        super().__init__(f"{line.agent}  {line.task}", glyphs, copy, edit)
        self._child_id = line.child_id
        self._session = session
        self._entries: list[Entry] = []
        self._pacer = Pacer(self, self._reload)
        self._unsubscribe = session.subscribe(self._hear)

    def on_mount(self) -> None:
        super().on_mount()
        self._reload()

    def on_unmount(self) -> None:
        self._unsubscribe()

    def _hear(self, event: Event) -> None:
        match event:
            case SubagentEvent(child_id=child_id, event=MessageFinished() | ToolStarted() | ToolFinished()):
                if child_id == self._child_id and self.is_mounted:
                    self._pacer.request()
            case _:
                pass

    def _reload(self) -> bool:
        self.run_worker(self._load(), exclusive=True, group="child")
        return False

    async def _load(self) -> None:
        try:
            events = await self._session.subagents.events(self._child_id)
        except UserError as error:
            self.app.notify(str(error), markup=False)
            return
        self._show(list(child_entries(events)))

    def _show(self, entries: list[Entry]) -> None:
        text = "\n\n".join(entry.source for entry in entries)
        if not self._entries:
            self.show(entries, text)
        else:
            self.grow(entries, text)
        self._entries = entries
