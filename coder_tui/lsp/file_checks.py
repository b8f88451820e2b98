"""Sends files to all their language servers, and stores the reports on the texts on disk."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from weakref import WeakValueDictionary

from coder_tui.lsp.file_state import FileState, Snapshot, diagnostics
from coder_tui.lsp.host_client import LspHostClient
from coder_tui.lsp.report import IS_KNOWN, Report, worst_status
from coder_tui.lsp.selection import Selected, Selection, Selector
from coder_tui.lsp.wire import LARGEST_TEXT, Checked, ServerOrder
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.errors import ToolError
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import has_content, load_if_there

NO_SERVER = "no language server is known for this type of file"
_MOST_KNOWN, _MOST_GONE = 500, 1000
_TOO_MANY_CHARACTERS = f"it has more than {LARGEST_TEXT:,} characters"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that exists, but is not a text to ask servers about."""

    why: str


@dataclass(eq=False, slots=True)
class FileChecks:
    """`states` are the files that servers know, by path; `tell` is called when a state changes."""

    workspace: Workspace
    selector: Selector
    hosting: LspHostClient
    tell: Callable[[FileState], None]
    states: dict[str, FileState] = field(default_factory=dict, init=False)
    late: dict[Path, list[Report]] = field(default_factory=dict, init=False)
    """What servers reported on changes after the wait for them was over."""
    gone: dict[str, None] = field(default_factory=dict, init=False)
    """Files that were known and may come back, for example by an undo."""
    languages: dict[str, tuple[str, str]] = field(default_factory=dict, init=False)
    """The name and language of each selected server, by its key."""
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary, init=False)

    async def select(self, path: Path, text: str) -> Selection:
        """Select the servers for a file; none if the text is too large."""
        if len(text) > LARGEST_TEXT:
            return Selection(None)
        selection = await self.selector.for_file(path, text)
        for chosen in selection.servers:
            if chosen.order is not None:
                self.languages[chosen.order.key] = (chosen.spec.name, chosen.spec.language)
        return selection

    async def load(self, path: Path, likely: str | None = None) -> str | Unreadable | None:
        """Return the text on disk, or None if the file is gone."""
        # Comparing with the likely text takes a third of the time of reading and decoding the file.
        if likely is not None and has_content(path, likely):
            return likely
        try:
            file = await load_if_there(self.workspace.locate(str(path)))
        except ToolError as error:
            return Unreadable(error.message) if await self.is_there(path) else None
        if file is not None and len(file.text) > LARGEST_TEXT:
            return Unreadable(self._too_large(path))
        return file.shown if file is not None else None

    def absent(self, path: Path, text: str, selection: Selection) -> tuple[ServerStatus, str]:
        """Return the status and the reason if no server can be asked."""
        if len(text) > LARGEST_TEXT:
            return ServerStatus.UNSUPPORTED, self._too_large(path)
        if selection.language is None or not selection.servers:
            return ServerStatus.UNSUPPORTED, NO_SERVER
        return worst_status(chosen.status for chosen in selection.servers), selection.hint

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
        """Ask all servers at once, and store their reports if the text is the one on disk."""
        fields = {
            **_document(state.path, text, selection),
            "seconds": seconds,
            "is_proposed": is_proposed,
            "is_saved": is_saved,
        }
        checked = await self._ask_all(selection.orders, fields)
        if not is_proposed:
            self.store_results(state, checked)
        if str(state.path) not in self.states:
            await self._close(state.path)
        return checked

    def store_results(self, state: FileState, checked: Mapping[str, Checked]) -> None:
        """Store reports on the text on disk, unless the file is gone by now."""
        if not self.is_open(state):
            return
        for key, result in checked.items():
            if result.status in IS_KNOWN and (late := state.settle(key, result.items)) is not None:
                self.late.setdefault(state.path, []).append(late)
        self.tell(state)

    async def _ask_all(
        self, orders: tuple[ServerOrder, ...], fields: dict[str, object]
    ) -> dict[str, Checked]:
        if len(orders) == 1:
            # Usually there is one server; a separate task would let other work go first.
            return {orders[0].key: await self.hosting.check(orders[0], **fields)}
        results = await asyncio.gather(*(self.hosting.check(order, **fields) for order in orders))
        return {order.key: result for order, result in zip(orders, results, strict=True)}

    async def baselines(
        self, state: FileState, selection: Selection, old_text: str | None, *, is_on_disk: bool = False
    ) -> dict[str, Snapshot | None]:
        """Return each server's earlier report; one that has not seen the file gets the old text first."""
        if old_text == "":
            return {order.key: Snapshot("", ()) for order in selection.orders}
        before = state.known_of if is_on_disk else state.before_edit
        baselines = {order.key: before(order.key, old_text) for order in selection.orders}
        unseen = tuple(chosen for chosen in selection.servers if baselines.get(_key(chosen), state) is None)
        if old_text is not None and len(old_text) <= LARGEST_TEXT and unseen:
            if is_on_disk:
                state.changed_by_others(old_text)
            few = replace(selection, servers=unseen)
            shown = await self.check(state, old_text, few, is_proposed=not is_on_disk)
            for key, result in shown.items():
                if result.status in IS_KNOWN:
                    baselines[key] = Snapshot(old_text, diagnostics(state.shown, result.items))
        return baselines

    async def restore(self, path: Path, selection: Selection, text: str | Unreadable | None) -> None:
        for order in selection.orders:
            if isinstance(text, str):
                await self.hosting.tell("put", order, **_document(path, text, selection))
            else:
                await self.hosting.tell("close", order, path=str(path), is_soon_again=True)

    async def renew(self, path: Path, text: str) -> None:
        self.state(path).changed_by_others(text)
        await self.saved(path, text, await self.select(path, text))

    async def saved(self, path: Path, text: str, selection: Selection) -> None:
        """Tell servers that this text is on disk now, without waiting for a report."""
        for order in selection.orders:
            await self.hosting.tell("put", order, **_document(path, text, selection), is_saved=True)

    async def forget(self, path: Path) -> None:
        """Close a deleted file on all servers and drop its state.

        A running check is not waited for: its result no longer matters.
        """
        if (state := self.states.pop(str(path), None)) is not None:
            state.by_server.clear()
            self.tell(state)
            self.gone[str(path)] = None
            if len(self.gone) > _MOST_GONE:
                del self.gone[next(iter(self.gone))]
            await self._close(path)

    async def _close(self, path: Path) -> None:
        for order in self.hosting.started:
            await self.hosting.tell("close", order, path=str(path))

    def is_open(self, state: FileState) -> bool:
        return self.states.get(str(state.path)) is state

    async def is_there(self, path: Path) -> bool:
        return await asyncio.to_thread(os.path.lexists, path)

    def state(self, path: Path) -> FileState:
        """Return the file's state, or create it. Beyond the limit the oldest clean state is dropped."""
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
        return self.workspace.locate(str(path)).shown

    def _too_large(self, path: Path) -> str:
        return f"{self.shown(path)} is too large for language servers: {_TOO_MANY_CHARACTERS}"

    def lock(self, path: Path) -> asyncio.Lock:
        return self._locks.setdefault(str(path), asyncio.Lock())


def _document(path: Path, text: str, selection: Selection) -> dict[str, object]:
    assert selection.language is not None
    return {"path": str(path), "text": text, "language": selection.language.id}


def _key(chosen: Selected) -> str:
    return chosen.order.key if chosen.order else ""
