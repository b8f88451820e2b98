"""Find sessions by title or messages; open, rename, delete and restore them."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path

from textual import events

from coder_tui.config.paths import display_path
from coder_tui.protocol.errors import UserError
from coder_tui.storage.index import Hit
from coder_tui.storage.records import SessionInfo
from coder_tui.text.safe_text import safe_line
from coder_tui.ui.glyphs import Chrome
from coder_tui.ui.keys import Context, bindings
from coder_tui.ui.launch import Library
from coder_tui.ui.lists.picker import PickerScreen
from coder_tui.ui.lists.row_list import Item

_UNITS = ((365 * 86_400, "y"), (30 * 86_400, "mo"), (86_400, "d"), (3_600, "h"), (60, "m"))
_UNTITLED = "(untitled)"
_LEAST_SEARCHED = 2
"""Letters; fewer are in almost every message."""
HERE_ALREADY = "This session is already open."


class SessionsScreen(PickerScreen):
    """Ends with the id of the session to open, empty for a new session."""

    BINDINGS = bindings(Context.SESSIONS)
    help_context = Context.SESSIONS
    heading = "Sessions"
    types_at_once = False
    hints = (
        ("Enter", "open"),
        ("n", "new"),
        ("r", "rename"),
        ("d d", "delete"),
        ("u", "undelete"),
        ("Tab", "all folders"),
        ("/", "search"),
        ("Esc", "close"),
    )

    def __init__(
        self, chrome: Chrome, library: Library, current: str, directory: Path, query: str = ""
    ) -> None:
        """A query searches all folders from the start."""
        super().__init__(chrome, query)
        self._library = library
        self._current = current
        self._directory = directory
        self._listed: tuple[SessionInfo, ...] = ()
        self._infos: dict[str, SessionInfo] = {}
        self._elsewhere: frozenset[str] = frozenset()
        self._query = query
        self._wanted: str | None = None
        """The key of the item to mark next; None leaves the mark where it is."""
        self._is_everywhere = bool(query)
        self._kept_note: tuple[str, str] | None = None
        self._is_loaded = False
        self._is_settled = asyncio.Event()
        self._is_settled.set()

    async def handle_input(self, event: events.Key | events.Paste) -> bool:
        if isinstance(event, events.Key) and event.key == "enter":
            # Otherwise it would open what was marked before the newest letters were searched.
            await self._is_settled.wait()
        self._kept_note = None
        return await super().handle_input(event)

    def show_marked(self) -> None:
        super().show_marked()
        if self._kept_note is not None:
            self.show_note(*self._kept_note)

    def fill(self) -> None:
        self.list.show((), empty=f"Loading{self.chrome.more}")
        self.reload()

    def narrow(self, query: str) -> None:
        super().narrow(query)
        if query == self._query:
            return
        self._query = query
        self._is_settled.clear()
        # Mark the first row again: a message may match better than a title.
        self._wanted = ""
        self.run_worker(self._find(), group="find")

    def reload(self) -> None:
        self._is_loaded = False
        self._is_settled.clear()
        self.run_worker(self._load(), group="load")

    def choose(self, item: Item) -> None:
        info = self._infos[item.key]
        if info.id == self._current:
            self.show_note(HERE_ALREADY)
        elif Path(info.directory) != self._directory:
            folder = display_path(Path(info.directory))
            self.show_note(
                f"It belongs to {folder}. Run  coder-tui --resume {info.id}  there.", "$text-warning"
            )
        else:
            self.dismiss(info.id)

    def action_new(self) -> None:
        self.dismiss("")

    def action_rename(self) -> None:
        if (item := self.list.marked) is not None:
            title = self._infos[item.key].title
            self.ask("title:", title, lambda text: self._change(self._library.rename(item.key, text)))

    def action_delete(self) -> None:
        item = self.list.marked
        if item is None:
            return
        if item.key == self._current:
            self.show_note("This session is open. Open another one before you delete it.", "$text-warning")
        elif self.pressed_twice(item.key, f"Press d again to delete “{safe_line(item.label)}”."):
            note = f"“{safe_line(item.label)}” was deleted. Press u to restore it."
            self._change(self._library.delete(item.key), note)

    def action_restore(self) -> None:
        self.run_worker(self._restored(), group="change")

    def action_everywhere(self) -> None:
        self._is_everywhere = not self._is_everywhere
        self.reload()

    def _change(self, work: Coroutine[None, None, None], note: str = "") -> None:
        self.run_worker(self._changed(work, note), group="change")

    async def _changed(self, work: Coroutine[None, None, None], note: str) -> None:
        try:
            await work
        except UserError as error:
            self.show_note(str(error), "$text-error")
        else:
            await self._load()
            self._keep_note(note)

    async def _restored(self) -> None:
        try:
            info = await self._library.restore(everywhere=self._is_everywhere)
        except UserError as error:
            self.show_note(str(error), "$text-warning")
        else:
            self._wanted = info.id
            await self._load()
            self._keep_note(f"“{safe_line(info.title or _UNTITLED)}” was restored.")

    def _keep_note(self, note: str, style: str = "") -> None:
        """Show a note until the next key, even if the list is loaded again and the mark moves."""
        if note:
            self._kept_note = (note, style)
            self.show_marked()

    async def _load(self) -> None:
        problem = ""
        try:
            self._listed = await self._library.sessions(everywhere=self._is_everywhere)
            self._elsewhere = await self._library.open_elsewhere()
        except UserError as error:
            problem = str(error)
        self._is_loaded = True
        await self._find()
        self._keep_note(problem, "$text-error")

    async def _find(self) -> None:
        """Show the sessions whose title or messages match."""
        query, problem = self._query.strip(), ""
        hits: tuple[Hit, ...] = ()
        if len(query) >= _LEAST_SEARCHED:
            try:
                hits = await self._library.search(query, everywhere=self._is_everywhere)
            except UserError as error:
                problem = str(error)
        if query != self._query.strip():
            return  # the user has typed more
        excerpts = {hit.info.id: hit.excerpt for hit in hits}
        self._infos = {info.id: info for info in (*(hit.info for hit in hits), *self._listed)}
        # Hits keep their order, the newest first; otherwise the list sorts by how well titles match.
        self.list.keeps_order = bool(hits)
        now = datetime.now(UTC)
        items = [self._item(info, now, excerpts.get(info.id), query) for info in self._infos.values()]
        empty = "No sessions yet." if self._is_everywhere else "No sessions in this folder yet."
        self.list.show(items, self._wanted, empty=empty)
        self._wanted = None
        self._keep_note(problem, "$text-error")
        if self._is_loaded:
            self._is_settled.set()

    def _item(self, info: SessionInfo, now: datetime, excerpt: str | None, query: str) -> Item:
        title, folder = info.title or _UNTITLED, safe_line(display_path(Path(info.directory)))
        cost = "" if info.cost is None else f"${info.cost:.2f}"
        place = (folder,) if self._is_everywhere else ()
        # For hits in messages or the folder, add the query itself, so that the list's filter keeps them.
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
    """Format how long ago something was, in the largest unit that fits."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "now"
