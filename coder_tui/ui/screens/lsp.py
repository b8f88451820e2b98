"""The language servers of a session: how each stands, what it said last, and a new start for one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from coder_tui.lsp.overview import ServerLine, facts_of, state_words
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import Event, ServerStatusChanged
from coder_tui.text.safe_text import safe_line, safe_text
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.screens.picker import Hint, PickerScreen
from coder_tui.ui.widgets.fuzzy_list import Item

if TYPE_CHECKING:
    from coder_tui.agent.session import Session

NONE = "There are no language servers here."
STARTED, OTHERS = "Started", "Not started"
_IS_WELL = {ServerStatus.FRESH, ServerStatus.LINTER_MISSING}


class LspScreen(PickerScreen):
    """Stays open while one is restarted; `read` shows all that is known of one on a page of its own."""

    BINDINGS = bindings(Context.LSP)
    help_context = Context.LSP
    heading = "Language servers"
    types_at_once = False
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "all about it"),
        ("r", "restart"),
        ("Esc", "close"),
        ("/", "filter"),
    )

    def __init__(self, chrome: Chrome, session: "Session", read: Callable[[str, str], None]) -> None:
        super().__init__(chrome)
        self._session = session
        self._read = read
        self._lines: dict[str, ServerLine] = {}
        self._deaf: Callable[[], None] = lambda: None

    def on_unmount(self) -> None:
        self._deaf()

    def fill(self) -> None:
        self._deaf = self._session.subscribe(self._hear)
        self.reload()

    def reload(self) -> None:
        self.run_worker(self._look(), group="lsp", exclusive=True)

    def choose(self, item: Item) -> None:
        line = self._lines[item.key]
        rows = (("state", state_words(line)), *facts_of(line))
        words = "\n".join(f"{label:<9}{text}" for label, text in rows)
        self._read(f"{line.name} ({line.language})", safe_text(words))

    def action_restart(self) -> None:
        line = self._lines.get(self.list.marked.key) if self.list.marked else None
        if line is None:
            return
        if not line.is_started:
            self.say("It does not run: it starts with the first file of its kind.", "$text-warning")
            return
        self.say(f"{safe_line(line.name)} starts anew{self.chrome.more}")
        self.run_worker(self._session.lookup.restart(line.name), group="lsp-restart")

    async def _look(self) -> None:
        lines = await self._session.lookup.servers()
        self._lines = {f"{line.name} {line.root}": line for line in lines}
        started_first = sorted(self._lines.items(), key=lambda pair: not pair[1].is_started)
        self.list.show([self._item(key, line) for key, line in started_first], empty=NONE)

    def _hear(self, event: Event) -> None:
        if isinstance(event, ServerStatusChanged):
            self.reload()

    def _item(self, key: str, line: ServerLine) -> Item:
        return Item(
            key=key,
            label=safe_line(line.name),
            lead=self._lead(line),
            details=(state_words(line), line.language),
            note=safe_line(line.said or line.detail or " ".join(line.command)),
            group=STARTED if line.is_started else OTHERS,
            is_ready=line.is_started or line.status in _IS_WELL,
        )

    def _lead(self, line: ServerLine) -> str:
        if not line.is_started:
            return ""
        if line.status in _IS_WELL:
            return self.chrome.ok
        return self.chrome.running if line.status is ServerStatus.STARTING else self.chrome.failed
