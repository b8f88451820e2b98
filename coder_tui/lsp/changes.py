"""Reports what written or proposed changes do to the problems of files, and notifies servers of changes.

Servers also get a text just before it is written, so that they check it while the disk is busy.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coder_tui.lsp.file_checks import NO_SERVER, FileChecks, Unreadable
from coder_tui.lsp.file_state import FileState, Snapshot, compare_snapshots, diagnostics
from coder_tui.lsp.host_client import LspHostClient
from coder_tui.lsp.report import IS_KNOWN, Report, join_file_reports, join_reports
from coder_tui.lsp.selection import Selection
from coder_tui.lsp.wire import Checked
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.tasks import finish_despite_cancel


@dataclass(slots=True)
class _Expected:
    text: str
    looking: asyncio.Task[dict[str, Checked]]


class SpeculativeChecks:
    """Checks of texts that are about to be written; for each file only the last announced one."""

    def __init__(self, files: FileChecks) -> None:
        self._files = files
        self._expected: dict[Path, _Expected] = {}

    async def start(self, path: Path, text: str) -> None:
        """Start to check a text. The caller later fetches the result or cancels the check."""
        if (earlier := self._expected.get(path)) is not None:
            earlier.looking.cancel()
        self._expected[path] = _Expected(text, asyncio.ensure_future(self._look(path, text)))
        # The request goes out before the caller starts to write, whose thread would delay it.
        await asyncio.sleep(0)

    def text_for(self, path: Path) -> str | None:
        """Return the text that is about to be written there, or None."""
        expected = self._expected.get(path)
        return expected.text if expected else None

    async def result_for(self, path: Path, text: str | Unreadable | None) -> dict[str, Checked]:
        """Return what servers reported on exactly this text so far; empty if they were not asked."""
        expected = self._expected.pop(path, None)
        if expected is None:
            return {}
        if expected.text != text:
            expected.looking.cancel()
            await asyncio.wait({expected.looking})
            return {}
        return await expected.looking

    async def cancel(self, path: Path) -> None:
        """Stop a check whose text was not written, and send servers the text on disk."""
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
    """A changed file. `before` is its previous text, "" for a new file.

    `is_moved` means that it was moved to or from another path.
    """

    path: Path
    before: str | None
    text: str | Unreadable | None
    selection: Selection
    speculated: Mapping[str, Checked]
    is_moved: bool = False

    @property
    def kind(self) -> int:
        if self.text is None:
            return _REMOVED
        return _CREATED if self.before == "" or self.is_moved else _CHANGED


class ChangeChecks:
    """`aside` runs work in the background."""

    def __init__(
        self,
        files: FileChecks,
        hosting: LspHostClient,
        aside: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self.speculative = SpeculativeChecks(files)
        self._files = files
        self._hosting = hosting
        self._aside = aside

    async def check_written(self, paths: Sequence[Path], before: Mapping[Path, str]) -> Report:
        """Report what a change on disk did; `before` has the previous texts."""
        edits = _paired([await self._read(path, before.get(path)) for path in paths])
        # A server's settings may be among them; it must know before it is asked about the others.
        unasked = [edit for edit in edits if not edit.selection.orders]
        reports = [await self._after_unasked(edit) for edit in unasked]
        asked = [edit for edit in edits if edit.selection.orders]
        if len(asked) == 1:
            # As in `FileChecks`: a separate task would let other work go first.
            reports.append(await self._after(asked[0]))
        else:
            reports += await asyncio.gather(*map(self._after, asked))
        names = (self._files.shown(edit.path) for edit in (*unasked, *asked))
        return join_file_reports(dict(zip(names, reports, strict=True)))

    async def check_proposed(self, path: Path, text: str, before: str | None) -> Report:
        """Report what this text would do to the problems of the text before, perhaps at another path."""
        selection = await self._files.select(path, text)
        if not selection.orders:
            return self._unasked(path, text, selection)
        state = self._files.state(path)
        async with self._files.lock(path):
            now = await self._files.load(path)
            baselines = await self._baselines_of_proposed(state, selection, now, before)
            try:
                checked = await self._files.check(state, text, selection, is_proposed=True)
            finally:
                await finish_despite_cancel(self._files.restore(path, selection, now))
        return _build_report(state, text, selection, baselines, checked)

    async def notify_changed(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Notify servers of changes that were not edits; return the files that servers have or had open."""
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
        """Return whether a known file came back, or was moved here from another path with the same text."""
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
        text = await self._files.load(path, self.speculative.text_for(path))
        speculated = await self.speculative.result_for(path, text)
        selection = await self._files.select(path, text) if isinstance(text, str) else Selection(None)
        return _Edit(path, before, text, selection, speculated)

    async def _after_unasked(self, edit: _Edit) -> Report:
        """Report on a file that is gone or that no server checks; it may hold a server's settings."""
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
            baselines = await self._files.baselines(state, edit.selection, edit.before)
            checked = await self._check_change(state, edit.text, edit, baselines)
        self._aside(self._tell_others(edit))
        return _build_report(state, edit.text, edit.selection, baselines, checked)

    async def _tell_others(self, edit: _Edit) -> None:
        """Notify the other servers. Those that got the text only need to know of a new file."""
        shown = set() if edit.kind == _CREATED else {order.key for order in edit.selection.orders}
        for order in self._hosting.started:
            if order.key not in shown:
                await self._hosting.tell("disk", order, changes=[(str(edit.path), edit.kind)])

    async def _check_change(
        self,
        state: FileState,
        text: str,
        edit: _Edit,
        baselines: Mapping[str, Snapshot | None],
    ) -> Mapping[str, Checked]:
        selection, speculated = edit.selection, edit.speculated
        state.text = text
        state.set_baselines(baselines)
        # What an earlier edit still waits for is reported with this one.
        state.awaited.clear()
        keys = {order.key for order in selection.orders}
        if speculated.keys() == keys and all(result.status in IS_KNOWN for result in speculated.values()):
            checked = speculated
            self._files.store_results(state, checked)
            self._aside(self._files.saved(state.path, text, selection))
        else:
            # The wait during the write counts: do not wait as long again.
            seconds = 0.0 if speculated and state.by_server.keys() >= keys else None
            checked = await self._files.check(state, text, selection, seconds=seconds, is_saved=True)
        for order in selection.orders:
            if checked[order.key].status not in IS_KNOWN:
                state.awaited[order.key] = baselines[order.key]
        return checked

    async def _baselines_of_proposed(
        self, state: FileState, selection: Selection, now: str | Unreadable | None, before: str | None
    ) -> dict[str, Snapshot | None]:
        if isinstance(now, Unreadable):
            return {order.key: None for order in selection.orders}
        if now is None and before:
            return await self._files.baselines(state, selection, before)
        return await self._files.baselines(state, selection, now or "", is_on_disk=True)

    def _unasked(self, path: Path, text: str, selection: Selection) -> Report:
        status, detail = self._files.absent(path, text, selection)
        # "No server for such files" would only repeat itself with every edit.
        return Report(status, detail="" if detail == NO_SERVER else detail)


def _paired(edits: list[_Edit]) -> list[_Edit]:
    """Mark edits as moves if a removed file's text was the earlier text of another file."""
    left = {edit.before for edit in edits if edit.text is None and edit.before}
    moved = left & {edit.before for edit in edits if edit.text is not None}
    return [replace(edit, is_moved=edit.before in moved) for edit in edits]


def _build_report(
    state: FileState,
    text: str,
    selection: Selection,
    baselines: Mapping[str, Snapshot | None],
    checked: Mapping[str, Checked],
) -> Report:
    keys = (order.key for order in selection.orders)
    return join_reports(_part(baselines[key], checked[key], text, state.shown) for key in keys)


def _part(before: Snapshot | None, result: Checked, text: str, shown: str) -> Report:
    """Return one server's part of a report."""
    if result.status not in IS_KNOWN:
        return Report(result.status, detail=result.detail, is_compared=before is not None)
    report = compare_snapshots(before, Snapshot(text, diagnostics(shown, result.items)))
    return replace(report, status=result.status, detail=result.detail)
