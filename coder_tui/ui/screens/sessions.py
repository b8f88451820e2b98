"""Earlier sessions: open one, begin another, rename, delete."""

from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import UserError
from coder_tui.storage.records import SessionInfo
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.screens.picker import Hint, PickerScreen
from coder_tui.ui.shelf import Shelf
from coder_tui.ui.widgets.fuzzy_list import Item

_UNITS = ((365 * 86_400, "y"), (30 * 86_400, "mo"), (86_400, "d"), (3_600, "h"), (60, "m"))
_UNTITLED = "(untitled)"
HERE_ALREADY = "This session is open already."


class SessionsScreen(PickerScreen):
    """Ends with the id of the session to open, empty for a new one."""

    BINDINGS = bindings(Context.SESSIONS)
    help_context = Context.SESSIONS
    heading = "Sessions"
    types_at_once = False
    hints: ClassVar[tuple[Hint, ...]] = (
        ("Enter", "open"),
        ("n", "new"),
        ("r", "rename"),
        ("d d", "delete"),
        ("Tab", "all folders"),
        ("/", "filter"),
        ("Esc", "close"),
    )

    def __init__(self, chrome: Chrome, shelf: Shelf, current: str, directory: Path) -> None:
        super().__init__(chrome)
        self._shelf = shelf
        self._current = current
        self._directory = directory
        self._infos: dict[str, SessionInfo] = {}
        self._is_everywhere = False

    def fill(self) -> None:
        self.list.show((), empty=f"Looking{self.chrome.more}")
        self.reload()

    def reload(self) -> None:
        self.run_worker(self._load(), exclusive=True, group="sessions")

    def choose(self, item: Item) -> None:
        info = self._infos[item.key]
        if info.id == self._current:
            self.say(HERE_ALREADY)
        elif Path(info.directory) != self._directory:
            folder = display_path(Path(info.directory))
            self.say(f"It belongs to {folder}: run  coder-tui --resume {info.id}  there.", "$text-warning")
        else:
            self.dismiss(info.id)

    def action_new(self) -> None:
        self.dismiss("")

    def action_rename(self) -> None:
        if (item := self.list.marked) is not None:
            title = self._infos[item.key].title
            self.ask("title:", title, lambda text: self._change(self._shelf.rename(item.key, text)))

    def action_delete(self) -> None:
        item = self.list.marked
        if item is None:
            return
        if item.key == self._current:
            self.say("This session is open; begin another one first.", "$text-warning")
        elif self.pressed_twice(item.key, f"Press d again to delete “{safe_line(item.label)}” for good."):
            self._change(self._shelf.delete(item.key))

    def action_everywhere(self) -> None:
        self._is_everywhere = not self._is_everywhere
        self.reload()

    def _change(self, work: Coroutine[None, None, None]) -> None:
        self.run_worker(self._changed(work), group="change")

    async def _changed(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except UserError as error:
            self.say(str(error), "$text-error")
        else:
            await self._load()

    async def _load(self) -> None:
        try:
            infos = await self._shelf.sessions(everywhere=self._is_everywhere)
        except UserError as error:
            self.say(str(error), "$text-error")
            return
        self._infos = {info.id: info for info in infos}
        now = datetime.now(UTC)
        empty = "No sessions yet." if self._is_everywhere else "No sessions in this folder yet."
        self.list.show([self._item(info, now) for info in infos], empty=empty)

    def _item(self, info: SessionInfo, now: datetime) -> Item:
        folder = safe_line(display_path(Path(info.directory)))
        cost = "" if info.cost is None else f"${info.cost:.2f}"
        state = f"{self.chrome.ready} open here" if info.id == self._current else ""
        place = (folder,) if self._is_everywhere else ()
        return Item(
            key=info.id,
            label=info.title or _UNTITLED,
            lead=age((now - info.updated).total_seconds()),
            details=(*place, f"{info.message_count} msg", cost, state),
            note=f"{info.title or _UNTITLED}  {info.id}  {info.model}  {folder}",
            also=folder if self._is_everywhere else "",
        )


def age(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "now"
