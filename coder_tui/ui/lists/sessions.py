"""Earlier sessions: found by title or by what was said, opened, renamed, deleted and brought back."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from textual import events

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import UserError
from coder_tui.storage.records import SessionInfo
from coder_tui.storage.search import Hit
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Shelf
from coder_tui.ui.lists.fuzzy_list import Item
from coder_tui.ui.lists.picker import Hint, PickerScreen

_UNITS = ((365 * 86_400, "y"), (30 * 86_400, "mo"), (86_400, "d"), (3_600, "h"), (60, "m"))
_UNTITLED = "(untitled)"
_LEAST_SEARCHED = 2
"""Letters; fewer are in everything that was ever said."""
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
        ("u", "undelete"),
        ("Tab", "all folders"),
        ("/", "search"),
        ("Esc", "close"),
    )

    def __init__(self, chrome: Chrome, shelf: Shelf, current: str, directory: Path, query: str = "") -> None:
        """A query is looked for in all folders, from the beginning."""
        super().__init__(chrome, query)
        self._shelf = shelf
        self._current = current
        self._directory = directory
        self._listed: tuple[SessionInfo, ...] = ()
        self._infos: dict[str, SessionInfo] = {}
        self._elsewhere: frozenset[str] = frozenset()
        self._query = query
        self._wanted: str | None = None
        """The key of what is marked next; None leaves the mark where it is."""
        self._is_everywhere = bool(query)
        self._told: tuple[str, str] | None = None
        self._is_loaded = False
        self._is_settled = asyncio.Event()
        self._is_settled.set()

    async def take(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Key) and event.key == "enter":
            # Else it would open what stood there before the letters that came just now had found theirs.
            await self._is_settled.wait()
        self._told = None
        return await super().take(event)

    def show_marked(self) -> None:
        super().show_marked()
        if self._told is not None:
            self.say(*self._told)

    def fill(self) -> None:
        self.list.show((), empty=f"Looking{self.chrome.more}")
        self.reload()

    def narrow(self, query: str) -> None:
        super().narrow(query)
        if query == self._query:
            return
        self._query = query
        self._is_settled.clear()
        # The first row is marked anew: what was said may fit better than a title.
        self._wanted = ""
        self.run_worker(self._find(), group="find")

    def reload(self) -> None:
        self._is_loaded = False
        self._is_settled.clear()
        self.run_worker(self._load(), group="load")

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
        elif self.pressed_twice(item.key, f"Press d again to delete “{safe_line(item.label)}”."):
            told = f"“{safe_line(item.label)}” is deleted: u brings it back, for a while."
            self._change(self._shelf.delete(item.key), told)

    def action_restore(self) -> None:
        self.run_worker(self._restored(), group="change")

    def action_everywhere(self) -> None:
        self._is_everywhere = not self._is_everywhere
        self.reload()

    def _change(self, work: Coroutine[None, None, None], told: str = "") -> None:
        self.run_worker(self._changed(work, told), group="change")

    async def _changed(self, work: Coroutine[None, None, None], told: str) -> None:
        try:
            await work
        except UserError as error:
            self.say(str(error), "$text-error")
        else:
            await self._load()
            self._tell(told)

    async def _restored(self) -> None:
        try:
            info = await self._shelf.restore(everywhere=self._is_everywhere)
        except UserError as error:
            self.say(str(error), "$text-warning")
        else:
            self._wanted = info.id
            await self._load()
            self._tell(f"“{safe_line(info.title or _UNTITLED)}” is back.")

    def _tell(self, told: str, style: str = "") -> None:
        """Say it until the next key, though the list is shown anew and its mark moves."""
        if told:
            self._told = (told, style)
            self.show_marked()

    async def _load(self) -> None:
        problem = ""
        try:
            self._listed = await self._shelf.sessions(everywhere=self._is_everywhere)
            self._elsewhere = await self._shelf.open_elsewhere()
        except UserError as error:
            problem = str(error)
        self._is_loaded = True
        await self._find()
        self._tell(problem, "$text-error")

    async def _find(self) -> None:
        """Show what fits by its title or by what was said in it."""
        query, problem = self._query.strip(), ""
        hits: tuple[Hit, ...] = ()
        if len(query) >= _LEAST_SEARCHED:
            try:
                hits = await self._shelf.search(query, everywhere=self._is_everywhere)
            except UserError as error:
                problem = str(error)
        if query != self._query.strip():
            return  # more was typed meanwhile
        excerpts = {hit.info.id: hit.excerpt for hit in hits}
        self._infos = {info.id: info for info in (*(hit.info for hit in hits), *self._listed)}
        # The newest of those first; else the list knows better what fits.
        self.list.keeps_order = bool(hits)
        now = datetime.now(UTC)
        items = [self._item(info, now, excerpts.get(info.id), query) for info in self._infos.values()]
        empty = "No sessions yet." if self._is_everywhere else "No sessions in this folder yet."
        self.list.show(items, self._wanted, empty=empty)
        self._wanted = None
        self._tell(problem, "$text-error")
        if self._is_loaded:
            self._is_settled.set()

    def _item(self, info: SessionInfo, now: datetime, excerpt: str | None, query: str) -> Item:
        title, folder = info.title or _UNTITLED, safe_line(display_path(Path(info.directory)))
        cost = "" if info.cost is None else f"${info.cost:.2f}"
        place = (folder,) if self._is_everywhere else ()
        # What was said fits by the store's word, a folder as it is written: the list finds the query itself.
        is_found = excerpt is not None or (place and query.lower() in folder.lower())
        return Item(
            key=info.id,
            label=title,
            lead=age((now - info.updated).total_seconds()),
            details=(*place, f"{info.message_count} msg", cost, self._state(info.id)),
            note=f"{excerpt or title}  {info.id}  {info.model}  {folder}",
            also=query.replace(" ", "") if is_found else "",
        )

    def _state(self, session_id: str) -> str:
        if session_id == self._current:
            return f"{self.chrome.ready} open here"
        return f"{self.chrome.ready} in use" if session_id in self._elsewhere else ""


def age(seconds: float) -> str:
    """How long ago, in the largest unit that fits."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "now"
