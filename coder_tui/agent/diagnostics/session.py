"""Connect a session with its language servers: send changes, and add their reports to results in time.

The tool runner calls it around every edit: `checking` while the user is asked, `writing` and `written` around
the write, `attach_to` for the result. One wait serves all edits of a reply.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet, WeakValueDictionary

from coder_tui.agent.diagnostics.format import check_of, counts_of, format_unchecked
from coder_tui.agent.diagnostics.pending import AT_ONCE, TRIES, PendingFiles
from coder_tui.lsp.file_checks import NO_SERVER
from coder_tui.lsp.pool import FileProblems
from coder_tui.lsp.report import IS_UNCHECKED, Report, for_model, join_file_reports, join_reports
from coder_tui.protocol.diagnostics import IS_AWAITED, ProposalCheck, ServerStatus
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.events import Event, ProposalChecked, ServerStatusChanged
from coder_tui.tasks import BackgroundTasks
from coder_tui.tools.base import Access, JsonObject, ProposedText, ToolResult
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import load_if_there

log = logging.getLogger(__name__)
FIELD, LATE = "diagnostics", "late_diagnostics"
PUT_OFF: JsonObject = {
    "server_status": str(ServerStatus.PENDING),
    "note": "not checked yet; reported with the last edit of this reply",
}
_UNKNOWN = "problems not known yet"


class Servers(Protocol):
    """The language servers of a session."""

    async def diagnostics(self, path: Path, text: str) -> FileProblems: ...
    async def after_change(
        self, paths: Sequence[Path], before: Mapping[Path, str] | None = None
    ) -> Report: ...
    async def expect_write(self, path: Path, text: str) -> None: ...
    async def cancel_expected_write(self, path: Path) -> None: ...
    async def check_proposed(self, path: Path, text: str, before: str | None = None) -> Report: ...
    async def notify_changes(self, paths: Iterable[Path]) -> tuple[Path, ...]: ...
    def begin_turn(self) -> None: ...
    def pop_late_reports(self) -> Mapping[Path, Report]: ...


class SessionDiagnostics:
    """Serves all agents of a session; each edits through an `EditDiagnostics` of its own."""

    def __init__(
        self,
        servers: Servers,
        workspace: Workspace,
        publish: Callable[[Event], None],
        patience: float,
    ) -> None:
        """`patience` are the most seconds that an edit waits for its problems."""
        self.agents: WeakSet[EditDiagnostics] = WeakSet()
        self._servers = servers
        self._workspace = workspace
        self._publish = publish
        self._patience = patience
        self._awaited = PendingFiles(self._ask, publish, self._begin)
        self._late: list[tuple[tuple[Path, ...], Report]] = []
        self._editors: WeakValueDictionary[Path, EditDiagnostics] = WeakValueDictionary()
        self._known_notes: set[str] = set()
        self._tasks = BackgroundTasks()

    def begin_turn(self) -> None:
        self._servers.begin_turn()

    def end_turn(self) -> None:
        for agent in tuple(self.agents):
            agent.end_turn()

    def on_server_event(self, event: Event) -> None:
        """Ask again about unknown files once a server works; servers announce that on the bus alone."""
        if isinstance(event, ServerStatusChanged) and event.status is ServerStatus.FRESH:
            self._awaited.ask_again()

    @contextmanager
    def checking(self, call_id: str, texts: tuple[ProposedText, ...]) -> Iterator[None]:
        """Check what a call would write, until the user has answered."""
        check = self._begin(self._check(call_id, texts)) if texts else None
        try:
            yield
        finally:
            if check is not None:
                check.cancel()

    def files_changed(self, names: Iterable[str]) -> None:
        """Tell the servers that something else than an edit changed these files; nobody waits."""
        self.changed_unseen(map(self._path_of, names))

    def changed_unseen(self, paths: Iterable[Path]) -> None:
        """Tell the servers that something else than an edit may have changed these; nobody waits."""
        if changed := tuple(paths):
            self._begin(self._tell_changes(changed))

    async def expect_write(self, path: Path, text: str) -> None:
        """Announce the text of an edit; `after_edits` follows, or `cancel_expected_write`."""
        self._awaited.leave((self.name_of(path),))
        await self._servers.expect_write(path, text)

    def cancel_expected_write(self, path: Path) -> None:
        self._begin(self._cancel_expected_write(path))

    async def after_edits(self, edits: Mapping[Path, str], agent: "EditDiagnostics | None" = None) -> Report:
        """Report what edits on disk did; `edits` are the texts before. Waits no longer than `patience`."""
        if agent is not None:
            self._editors.update(dict.fromkeys(edits, agent))
        names = tuple(self.name_of(path) for path in edits)
        self._awaited.leave(names)
        check = self._begin(self._servers.after_change(tuple(edits), edits))
        try:
            await asyncio.wait({check}, timeout=self._patience)
        finally:
            if not check.done():
                check.add_done_callback(lambda done: self._came_late(done, tuple(edits)))
        report = check.result() if check.done() else Report(ServerStatus.PENDING)
        self._awaited.note(names, report.status, asks=check.done())
        return report

    def pop_late_reports(self, agent: "EditDiagnostics | None" = None) -> Report | None:
        """Return late reports on this agent's edits, or on those of an agent that has ended; each once."""
        late = [
            *self._late,
            *(((path,), report) for path, report in self._servers.pop_late_reports().items()),
        ]
        self._late = [(paths, report) for paths, report in late if not self._is_for(agent, paths)]
        mine = [report for paths, report in late if self._is_for(agent, paths)]
        return join_reports(mine) if mine else None

    def is_news(self, words: str) -> bool:
        """Return True for each text once."""
        is_news = words not in self._known_notes
        self._known_notes.add(words)
        return is_news

    def name_of(self, path: Path) -> str:
        return self._workspace.locate(str(path)).shown

    async def close(self) -> None:
        await self._tasks.close()

    async def _check(self, call_id: str, texts: tuple[ProposedText, ...]) -> None:
        """Check again while servers start or are busy: the user is still reading."""
        shown: ProposalCheck | None = None
        for _ in range(TRIES):
            asked = self._begin(self._proposed(texts))
            try:
                await asyncio.wait({asked}, timeout=AT_ONCE)
                if shown is None and not asked.done():
                    shown = ProposalCheck(ServerStatus.PENDING)
                    self._publish(ProposalChecked(call_id, shown))
                report = await asked
            finally:
                asked.cancel()
            check = check_of(report)
            if check != shown:
                shown = check
                self._publish(ProposalChecked(call_id, check))
            if report.status not in IS_AWAITED:
                return

    async def _proposed(self, texts: tuple[ProposedText, ...]) -> Report:
        checks = {
            self.name_of(text.path): self._servers.check_proposed(text.path, text.after, text.before)
            for text in texts
            if text.after is not None
        }
        return join_file_reports(dict(zip(checks, await asyncio.gather(*checks.values()), strict=True)))

    def _is_for(self, agent: "EditDiagnostics | None", paths: tuple[Path, ...]) -> bool:
        """Return whether a report is for this agent; reports for ended agents go to the first that asks."""
        editors = {self._editors.get(path) for path in paths} - {None}
        return not editors or agent in editors

    def _came_late(self, check: "asyncio.Task[Report]", paths: tuple[Path, ...]) -> None:
        if not check.cancelled() and check.exception() is None:
            self._late.append((paths, check.result()))
            self._awaited.note(tuple(map(self.name_of, paths)), check.result().status, asks=True)

    async def _tell_changes(self, paths: tuple[Path, ...]) -> None:
        names = [self.name_of(path) for path in paths]
        self._awaited.leave(names)
        renewed = await self._servers.notify_changes(paths)
        # Some servers report nothing unless they are asked.
        await self._awaited.follow({*map(self.name_of, renewed), *self._awaited.among(names)})

    async def _cancel_expected_write(self, path: Path) -> None:
        await self._servers.cancel_expected_write(path)
        self._awaited.ask_again()

    async def _ask(self, name: str) -> ServerStatus | None:
        try:
            file = await load_if_there(self._workspace.locate(name))
        except ToolError:
            return None
        return (await self._servers.diagnostics(self._path_of(name), file.shown)).status if file else None

    def _path_of(self, name: str) -> Path:
        return self._workspace.locate(name).path

    def _begin(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = self._tasks.start(work)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("language servers", exc_info=error)


class EditDiagnostics:
    """Follows the edits of one agent, which are made one after the other."""

    def __init__(self, session: SessionDiagnostics) -> None:
        self.session = session
        self._put_off: dict[Path, str] = {}
        self._is_promised = False
        self._expected: Path | None = None
        session.agents.add(self)

    def checking(self, call_id: str, access: Access | None) -> AbstractContextManager[None]:
        """Before asking: check what the call would write, for as long as the user reads."""
        return self.session.checking(call_id, access.proposed if access else ())

    @asynccontextmanager
    async def writing(self, access: Access | None, *, more_follow: bool) -> AsyncIterator[None]:
        """Before writing: let servers think about the text that is about to be on disk."""
        texts = access.proposed if access else ()
        try:
            # What servers report on one file would be wrong while others of the same reply change.
            if len(texts) == 1 and texts[0].after is not None and not more_follow and not self._put_off:
                self._expected = texts[0].path
                await self.session.expect_write(texts[0].path, texts[0].after)
            yield
        except BaseException:
            self._forget_expected()
            raise

    def written(self, access: Access | None, result: ToolResult) -> None:
        """After writing: remember the texts before, or tell the servers if the call declared none."""
        texts = access.proposed if access and result.changed_paths else ()
        for text in texts:
            self._put_off.setdefault(text.path, text.before or "")
        if not texts:
            self.session.files_changed(result.changed_paths)

    async def attach_to(self, result: ToolResult, *, more_follow: bool) -> ToolResult:
        """Add what is known of the edits so far; `more_follow` puts that off to a later edit."""
        fields: JsonObject = {}
        summary = result.summary
        if self._expected not in self._put_off:
            self._forget_expected()
        if self._put_off and more_follow:
            if result.changed_paths:
                fields[FIELD] = PUT_OFF
                self._is_promised = True
        elif self._put_off:
            edits, self._put_off, self._expected = self._put_off, {}, None
            report = await self.session.after_edits(edits, self)
            fields |= self._field(report, tuple(edits))
            summary = "  ".join(filter(None, (summary, _words(report))))
        if (late := self.session.pop_late_reports(self)) is not None:
            fields[LATE] = for_model(late)
        return replace(result.with_fields(fields), summary=summary)

    def _forget_expected(self) -> None:
        if self._expected is not None:
            self.session.cancel_expected_write(self._expected)
        self._expected = None

    def end_turn(self) -> None:
        """If the turn was cut off before the last edit, nobody waits, but the servers have to know."""
        edits, self._put_off, self._is_promised = self._put_off, {}, False
        self._forget_expected()
        if edits:
            self.session.changed_unseen(tuple(edits))

    def _field(self, report: Report, paths: tuple[Path, ...]) -> JsonObject:
        was_promised, self._is_promised = self._is_promised, False
        if report.status is ServerStatus.UNSUPPORTED and not report.detail and not was_promised:
            return {}
        if report.status in IS_UNCHECKED and not report.unchecked:
            fields: JsonObject = {"server_status": str(report.status)}
            # How to install a server is reported once.
            if self.session.is_news(note := report.detail or NO_SERVER):
                fields["note"] = note
        else:
            fields = for_model(report)
        if len(paths) > 1:
            fields["files"] = [self.session.name_of(path) for path in paths]
        return {FIELD: fields}


def _words(report: Report) -> str:
    """Describe the report for the user, in the line of the call."""
    if report.is_compared and (report.is_known or report.is_known_in_part):
        return format_unchecked(str(counts_of(report)), len(report.unchecked))
    return _UNKNOWN if report.status in IS_AWAITED else ""
