"""Tells what changes of files, made or proposed, do to their problems, and tells servers of changes."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coder_tui.lsp.examine import NO_SERVER, Examiner, Unreadable
from coder_tui.lsp.file_state import FileState, Snapshot, compared, diagnostics
from coder_tui.lsp.foresight import Foresight
from coder_tui.lsp.hosting import Hosting
from coder_tui.lsp.report import IS_KNOWN, Report, joined
from coder_tui.lsp.selection import Selection
from coder_tui.lsp.wire import Checked
from coder_tui.protocol.diagnostics import ServerStatus

_CREATED, _CHANGED, _REMOVED = 1, 2, 3


class Changes:
    """`aside` does what nobody waits for."""

    def __init__(
        self,
        files: Examiner,
        hosting: Hosting,
        aside: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self.foresight = Foresight(files)
        self._files = files
        self._hosting = hosting
        self._aside = aside

    async def made(self, paths: Sequence[Path], before: Mapping[Path, str]) -> Report:
        """What a change of these, which is on disk, did; `before` are the texts before it."""
        if len(paths) == 1:
            return await self._after(paths[0], before.get(paths[0]))
        return joined(await asyncio.gather(*(self._after(path, before.get(path)) for path in paths)))

    async def proposed(self, path: Path, text: str) -> Report:
        """What this text would do to the file's problems; the disk stays as it is, nobody else is told."""
        selection = await self._files.select(path, text)
        if not selection.orders:
            return self._unasked(path, text, selection)
        state = self._files.state(path)
        async with self._files.lock(path):
            now = await self._files.load(path)
            befores = await self._befores_of_proposed(state, selection, now)
            try:
                checked = await self._files.check(state, text, selection, is_proposed=True)
            finally:
                await asyncio.shield(self._files.restore(path, selection, now))
        return _told(state, text, selection, befores, checked)

    async def unseen(self, paths: Iterable[Path]) -> None:
        """Something else than an edit, a command or git, may have changed these: no waiting, no report."""
        changes: list[tuple[str, int]] = []
        for path in paths:
            if not await self._files.is_there(path):
                changes.append((str(path), _REMOVED))
                await self._files.forget(path)
            elif str(path) in self._files.states:
                changes.append((str(path), _CHANGED))
                text = await self._files.load(path)
                await (self._files.renew(path, text) if isinstance(text, str) else self._files.forget(path))
            else:
                changes.append((str(path), _CREATED))
        if changes:
            await self._hosting.changed_on_disk(changes)

    async def _after(self, path: Path, old_text: str | None) -> Report:
        text = await self._files.load(path, self.foresight.text_for(path))
        foreseen = await self.foresight.take(path, text)
        async with self._files.lock(path):
            if not isinstance(text, str):
                return await self._closed(path, text)
            selection = await self._files.select(path, text)
            if not selection.orders:
                return self._unasked(path, text, selection)
            state = self._files.state(path)
            befores = await self._files.befores(state, selection, old_text)
            checked = await self._check_change(state, text, selection, befores, foreseen)
        if old_text == "":
            await self._hosting.changed_on_disk([(str(path), _CREATED)])
        return _told(state, text, selection, befores, checked)

    async def _check_change(
        self,
        state: FileState,
        text: str,
        selection: Selection,
        befores: Mapping[str, Snapshot | None],
        foreseen: Mapping[str, Checked],
    ) -> Mapping[str, Checked]:
        state.text = text
        state.begin(befores.values())
        keys = {order.key for order in selection.orders}
        if foreseen.keys() == keys and all(result.status in IS_KNOWN for result in foreseen.values()):
            checked = foreseen
            self._files.keep(state, checked)
            self._aside(self._files.saved(state.path, text, selection))
        else:
            # Whoever waited for it while it was written need not wait as long again.
            seconds = 0.0 if foreseen and state.by_server.keys() >= keys else None
            checked = await self._files.check(state, text, selection, seconds=seconds, is_saved=True)
        for order in selection.orders:
            if checked[order.key].status not in IS_KNOWN:
                state.awaited[order.key] = befores[order.key]
        return checked

    async def _befores_of_proposed(
        self, state: FileState, selection: Selection, now: str | Unreadable | None
    ) -> dict[str, Snapshot | None]:
        if isinstance(now, Unreadable):
            return {order.key: None for order in selection.orders}
        return await self._files.befores(state, selection, now or "", is_on_disk=True)

    async def _closed(self, path: Path, why: Unreadable | None) -> Report:
        """The file is gone, or nothing that servers are asked about any more."""
        state = self._files.states.get(str(path))
        fixed = state.items if state else ()
        await self._files.forget(path)
        await self._hosting.changed_on_disk([(str(path), _CHANGED if why else _REMOVED)])
        if why is not None:
            return Report(ServerStatus.UNSUPPORTED, detail=why.why)
        return Report(ServerStatus.FRESH if state else ServerStatus.UNSUPPORTED, fixed=fixed)

    def _unasked(self, path: Path, text: str, selection: Selection) -> Report:
        status, detail = self._files.absent(path, text, selection)
        # That there is no server for such files is nothing to tell with each of their edits.
        return Report(status, detail="" if detail == NO_SERVER else detail)


def _told(
    state: FileState,
    text: str,
    selection: Selection,
    befores: Mapping[str, Snapshot | None],
    checked: Mapping[str, Checked],
) -> Report:
    keys = (order.key for order in selection.orders)
    return joined(_part(befores[key], checked[key], text, state.shown) for key in keys)


def _part(before: Snapshot | None, result: Checked, text: str, shown: str) -> Report:
    """One server's part of a report."""
    if result.status not in IS_KNOWN:
        return Report(result.status, detail=result.detail, is_compared=before is not None)
    report = compared(before, Snapshot(text, diagnostics(shown, result.items)))
    return replace(report, status=result.status, detail=result.detail)
