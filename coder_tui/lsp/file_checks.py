"""Shows files to all language servers that look at them, and keeps what they say of the texts on disk."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakValueDictionary

from coder_tui.lsp.file_state import FileState, Snapshot, diagnostics
from coder_tui.lsp.host_client import Hosting
from coder_tui.lsp.report import IS_KNOWN, Report, worst
from coder_tui.lsp.selection import Selected, Selection, Selector
from coder_tui.lsp.wire import LARGEST_TEXT, Checked, ServerOrder
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import ToolError
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import holds, load_if_there

NO_SERVER = "no language server is known for such files"
_MOST_KNOWN, _MOST_GONE = 500, 1000
_MORE_THAN_MAY_BE = f"it has more than {LARGEST_TEXT:,} characters"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is there, yet no text that servers are asked about."""

    why: str


class Examiner:
    """`states` are the files that servers were shown, by path; `tell` hears of a state that changed."""

    def __init__(
        self, workspace: Workspace, selector: Selector, hosting: Hosting, tell: Callable[[FileState], None]
    ) -> None:
        self.states: dict[str, FileState] = {}
        self.late: dict[Path, list[Report]] = {}
        """What servers said of changes after nobody waited any more."""
        self.gone: dict[str, None] = {}
        """Files that were known and may come back, by an undo."""
        self.languages: dict[str, tuple[str, str]] = {}
        """The name and language of each server that was chosen, by its key."""
        self._workspace = workspace
        self._selector = selector
        self._hosting = hosting
        self._tell = tell
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def select(self, path: Path, text: str) -> Selection:
        """No server for too large a text."""
        if len(text) > LARGEST_TEXT:
            return Selection(None)
        selection = await self._selector.for_file(path, text)
        for chosen in selection.servers:
            if chosen.order is not None:
                self.languages[chosen.order.key] = (chosen.spec.name, chosen.spec.language)
        return selection

    async def load(self, path: Path, likely: str | None = None) -> str | Unreadable | None:
        """The text on disk; None for what is gone."""
        # To look whether it is what was meant to be there takes a third of reading whatever there is.
        if likely is not None and holds(path, likely):
            return likely
        try:
            file = await load_if_there(self._workspace.locate(str(path)))
        except ToolError as error:
            return Unreadable(error.message) if await self.is_there(path) else None
        if file is not None and len(file.text) > LARGEST_TEXT:
            return Unreadable(self._too_large(path))
        return file.shown if file is not None else None

    def absent(self, path: Path, text: str, selection: Selection) -> tuple[ServerStatus, str]:
        """What to say where no server can be asked."""
        if len(text) > LARGEST_TEXT:
            return ServerStatus.UNSUPPORTED, self._too_large(path)
        if selection.language is None or not selection.servers:
            return ServerStatus.UNSUPPORTED, NO_SERVER
        return worst(chosen.status for chosen in selection.servers), selection.hint

    async def check(
        self,
        state: FileState,
        text: str,
        selection: Selection,
        *,
        seconds: float | None = None,
        is_proposed: bool = False,
        is_saved: bool = False,
    ) -> dict[str, Checked]:
        """All servers at once. What they say of the text on disk is kept."""
        fields = {
            **_document(state.path, text, selection),
            "seconds": seconds,
            "is_proposed": is_proposed,
            "is_saved": is_saved,
        }
        checked = await self._ask_all(selection.orders, fields)
        if not is_proposed:
            self.keep(state, checked)
        if str(state.path) not in self.states:
            await self._close(state.path)
        return checked

    def keep(self, state: FileState, checked: Mapping[str, Checked]) -> None:
        """What was said of the text on disk, unless the file is gone by now."""
        if not self.is_open(state):
            return
        for key, result in checked.items():
            if result.status in IS_KNOWN and (late := state.settle(key, result.items)) is not None:
                self.late.setdefault(state.path, []).append(late)
        self._tell(state)

    async def _ask_all(
        self, orders: tuple[ServerOrder, ...], fields: dict[str, object]
    ) -> dict[str, Checked]:
        if len(orders) == 1:
            # Usually it is one, and a task of its own would let whatever else is to be done go first.
            return {orders[0].key: await self._hosting.check(orders[0], **fields)}
        results = await asyncio.gather(*(self._hosting.check(order, **fields) for order in orders))
        return {order.key: result for order, result in zip(orders, results, strict=True)}

    async def befores(
        self, state: FileState, selection: Selection, old_text: str | None, *, is_on_disk: bool = False
    ) -> dict[str, Snapshot | None]:
        """What each server said before; those that have not seen the file are shown the old text first."""
        if old_text == "":
            return {order.key: Snapshot("", ()) for order in selection.orders}
        before = state.known_of if is_on_disk else state.before_edit
        befores = {order.key: before(order.key, old_text) for order in selection.orders}
        unseen = tuple(chosen for chosen in selection.servers if befores.get(_key(chosen), state) is None)
        if old_text is not None and len(old_text) <= LARGEST_TEXT and unseen:
            if is_on_disk:
                state.changed_by_others(old_text)
            few = replace(selection, servers=unseen)
            shown = await self.check(state, old_text, few, is_proposed=not is_on_disk)
            for key, result in shown.items():
                if result.status in IS_KNOWN:
                    befores[key] = Snapshot(old_text, diagnostics(state.shown, result.items))
        return befores

    async def restore(self, path: Path, selection: Selection, text: str | Unreadable | None) -> None:
        for order in selection.orders:
            if isinstance(text, str):
                await self._hosting.tell("put", order, **_document(path, text, selection))
            else:
                await self._hosting.tell("close", order, path=str(path), is_soon_again=True)

    async def renew(self, path: Path, text: str) -> None:
        self.state(path).changed_by_others(text)
        await self.saved(path, text, await self.select(path, text))

    async def saved(self, path: Path, text: str, selection: Selection) -> None:
        """This is on disk now; nobody waits for a word about it."""
        for order in selection.orders:
            await self._hosting.tell("put", order, **_document(path, text, selection), is_saved=True)

    async def forget(self, path: Path) -> None:
        """The file is gone: servers close it, and nothing is known of it any more.

        Without waiting for a check that is under way: what it finds is about nothing.
        """
        if (state := self.states.pop(str(path), None)) is not None:
            state.by_server.clear()
            self._tell(state)
            self.gone[str(path)] = None
            if len(self.gone) > _MOST_GONE:
                del self.gone[next(iter(self.gone))]
            await self._close(path)

    async def _close(self, path: Path) -> None:
        for order in self._hosting.started:
            await self._hosting.tell("close", order, path=str(path))

    def is_open(self, state: FileState) -> bool:
        return self.states.get(str(state.path)) is state

    async def is_there(self, path: Path) -> bool:
        return await asyncio.to_thread(os.path.lexists, path)

    def state(self, path: Path) -> FileState:
        """Made where there is none. Of very many that have no problems, the first to be seen is forgotten."""
        state = self.states.pop(str(path), None)
        if state is None:
            state = FileState(path, self.shown(path))
            self.gone.pop(str(path), None)
            if len(self.states) >= _MOST_KNOWN:
                idle = (name for name, known in self.states.items() if not known.is_worth_keeping)
                self.states.pop(next(idle, ""), None)
        self.states[str(path)] = state
        return state

    def shown(self, path: Path) -> str:
        return self._workspace.locate(str(path)).shown

    def _too_large(self, path: Path) -> str:
        return f"{self.shown(path)} is too large for language servers: {_MORE_THAN_MAY_BE}"

    def lock(self, path: Path) -> asyncio.Lock:
        return self._locks.setdefault(str(path), asyncio.Lock())


def _document(path: Path, text: str, selection: Selection) -> dict[str, object]:
    assert selection.language is not None
    return {"path": str(path), "text": text, "language": selection.language.id}


def _key(chosen: Selected) -> str:
    return chosen.order.key if chosen.order else ""
