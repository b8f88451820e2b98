"""Tells what changes of files, made or proposed, do to their problems, and tells servers of changes.

Shows servers what is about to be written, so that they think while the disk is still busy.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coder_tui.lsp.file_checks import NO_SERVER, Examiner, Unreadable
from coder_tui.lsp.file_state import FileState, Snapshot, compared, diagnostics
from coder_tui.lsp.host_client import Hosting
from coder_tui.lsp.report import IS_KNOWN, Report, joined, of_files
from coder_tui.lsp.selection import Selection
from coder_tui.lsp.wire import Checked
from coder_tui.protocol.diagnostics import ServerStatus


@dataclass(slots=True)
class _Expected:
    text: str
    looking: asyncio.Task[dict[str, Checked]]


class Foresight:
    """One text a file: the last that was announced."""

    def __init__(self, files: Examiner) -> None:
        self._files = files
        self._expected: dict[Path, _Expected] = {}

    async def expect(self, path: Path, text: str) -> None:
        """Whoever says so says later that it was written, or `drop`s it."""
        if (earlier := self._expected.get(path)) is not None:
            earlier.looking.cancel()
        self._expected[path] = _Expected(text, asyncio.ensure_future(self._look(path, text)))
        # On its way before the caller turns to the disk, whose thread would delay it.
        await asyncio.sleep(0)

    def text_for(self, path: Path) -> str | None:
        """What is about to be written there, where somebody said so."""
        expected = self._expected.get(path)
        return expected.text if expected else None

    async def take(self, path: Path, text: str | Unreadable | None) -> dict[str, Checked]:
        """What servers said of this very text, or how far they are; empty where they were not asked."""
        expected = self._expected.pop(path, None)
        if expected is None:
            return {}
        if expected.text != text:
            expected.looking.cancel()
            await asyncio.wait({expected.looking})
            return {}
        return await expected.looking

    async def drop(self, path: Path) -> None:
        """It was not written: servers get back what is on disk."""
        expected = self._expected.pop(path, None)
        if expected is None:
            return
        expected.looking.cancel()
        await asyncio.wait({expected.looking})
        text = await self._files.load(path)
        async with self._files.lock(path):
            await self._files.restore(path, await self._files.select(path, expected.text), text)

    def close(self) -> None:
        for expected in self._expected.values():
            expected.looking.cancel()

    async def _look(self, path: Path, text: str) -> dict[str, Checked]:
        selection = await self._files.select(path, text)
        if not selection.orders:
            return {}
        async with self._files.lock(path):
            return await self._files.check(self._files.state(path), text, selection, is_proposed=True)


_CREATED, _CHANGED, _REMOVED = 1, 2, 3


@dataclass(frozen=True, slots=True)
class _Edit:
    """A file that was changed. `before` is its text before, "" where it was not there.

    `is_moved` where it went to another place, or came from there.
    """

    path: Path
    before: str | None
    text: str | Unreadable | None
    selection: Selection
    foreseen: Mapping[str, Checked]
    is_moved: bool = False

    @property
    def kind(self) -> int:
        if self.text is None:
            return _REMOVED
        return _CREATED if self.before == "" or self.is_moved else _CHANGED


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
        edits = _paired([await self._read(path, before.get(path)) for path in paths])
        # Settings of a server may be among them: it has to know before it is asked about the others.
        unasked = [edit for edit in edits if not edit.selection.orders]
        reports = [await self._after_unasked(edit) for edit in unasked]
        asked = [edit for edit in edits if edit.selection.orders]
        if len(asked) == 1:
            # As `Examiner`: a task of its own would let whatever else is to be done go first.
            reports.append(await self._after(asked[0]))
        else:
            reports += await asyncio.gather(*map(self._after, asked))
        names = (self._files.shown(edit.path) for edit in (*unasked, *asked))
        return of_files(dict(zip(names, reports, strict=True)))

    async def proposed(self, path: Path, text: str, before: str | None) -> Report:
        """What this text would do to the problems of the one before, which may lie at another place yet."""
        selection = await self._files.select(path, text)
        if not selection.orders:
            return self._unasked(path, text, selection)
        state = self._files.state(path)
        async with self._files.lock(path):
            now = await self._files.load(path)
            befores = await self._befores_of_proposed(state, selection, now, before)
            try:
                checked = await self._files.check(state, text, selection, is_proposed=True)
            finally:
                await asyncio.shield(self._files.restore(path, selection, now))
        return _told(state, text, selection, befores, checked)

    async def unseen(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Something else than an edit may have changed these; those that servers have or had open."""
        changes: list[tuple[str, int]] = []
        known: list[Path] = []
        new: list[Path] = []
        gone: set[tuple[str, object]] = set()
        for path in paths:
            state = self._files.states.get(str(path))
            if not await self._files.is_there(path):
                changes.append((str(path), _REMOVED))
                gone |= {(path.suffix, state.text)} if state else set()
                await self._files.forget(path)
            elif state is not None:
                changes.append((str(path), _CHANGED))
                known.append(path)
            else:
                changes += [(str(path), _CREATED), (str(path), _CHANGED)]
                new.append(path)
        if changes:
            await self._hosting.changed_on_disk(changes)
        known += [path for path in new if await self._was_known(path, gone)]
        renewed = await asyncio.gather(*map(self._renew, known))
        return tuple(path for path, is_open in zip(known, renewed, strict=True) if is_open)

    async def _was_known(self, path: Path, gone: set[tuple[str, object]]) -> bool:
        """Whether it comes back, or comes from where another, with the same text, is no more."""
        if str(path) in self._files.gone:
            return True
        is_likely = any(suffix == path.suffix for suffix, _ in gone)
        return is_likely and (path.suffix, await self._files.load(path)) in gone

    async def _renew(self, path: Path) -> bool:
        async with self._files.lock(path):
            text = await self._files.load(path)
            if isinstance(text, str):
                await self._files.renew(path, text)
            else:
                await self._files.forget(path)
            return isinstance(text, str)

    async def _read(self, path: Path, before: str | None) -> _Edit:
        text = await self._files.load(path, self.foresight.text_for(path))
        foreseen = await self.foresight.take(path, text)
        selection = await self._files.select(path, text) if isinstance(text, str) else Selection(None)
        return _Edit(path, before, text, selection, foreseen)

    async def _after_unasked(self, edit: _Edit) -> Report:
        """It is gone, or nothing that servers are asked about, which may be their own settings."""
        path, text = edit.path, edit.text
        state = self._files.states.get(str(path))
        fixed = state.items if state and not edit.is_moved else ()
        await self._files.forget(path)
        await self._hosting.changed_on_disk([(str(path), edit.kind)])
        match text:
            case None:
                return Report(ServerStatus.FRESH if state else ServerStatus.UNSUPPORTED, fixed=fixed)
            case Unreadable(why):
                return Report(ServerStatus.UNSUPPORTED, detail=why)
            case str():
                return self._unasked(path, text, edit.selection)

    async def _after(self, edit: _Edit) -> Report:
        assert isinstance(edit.text, str)
        async with self._files.lock(edit.path):
            state = self._files.state(edit.path)
            befores = await self._files.befores(state, edit.selection, edit.before)
            checked = await self._check_change(state, edit.text, edit, befores)
        self._aside(self._tell_others(edit))
        return _told(state, edit.text, edit.selection, befores, checked)

    async def _tell_others(self, edit: _Edit) -> None:
        """Those that were shown the text need to know only that there is a file which was not there."""
        shown = set() if edit.kind == _CREATED else {order.key for order in edit.selection.orders}
        for order in self._hosting.started:
            if order.key not in shown:
                await self._hosting.tell("disk", order, changes=[(str(edit.path), edit.kind)])

    async def _check_change(
        self,
        state: FileState,
        text: str,
        edit: _Edit,
        befores: Mapping[str, Snapshot | None],
    ) -> Mapping[str, Checked]:
        selection, foreseen = edit.selection, edit.foreseen
        state.text = text
        state.begin(befores)
        # What an earlier edit waits for is told with this one.
        state.awaited.clear()
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
        self, state: FileState, selection: Selection, now: str | Unreadable | None, before: str | None
    ) -> dict[str, Snapshot | None]:
        if isinstance(now, Unreadable):
            return {order.key: None for order in selection.orders}
        if now is None and before:
            return await self._files.befores(state, selection, before)
        return await self._files.befores(state, selection, now or "", is_on_disk=True)

    def _unasked(self, path: Path, text: str, selection: Selection) -> Report:
        status, detail = self._files.absent(path, text, selection)
        # That there is no server for such files is nothing to tell with each of their edits.
        return Report(status, detail="" if detail == NO_SERVER else detail)


def _paired(edits: list[_Edit]) -> list[_Edit]:
    """What is gone from one place and was the text of another moved, with its problems."""
    left = {edit.before for edit in edits if edit.text is None and edit.before}
    moved = left & {edit.before for edit in edits if edit.text is not None}
    return [replace(edit, is_moved=edit.before in moved) for edit in edits]


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
