"""All language servers of a session: answers questions about files, hears of changes, lists what runs.

The list says for each known server whether it runs, and if not, why.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coder_tui.lsp.changes import ChangeChecks
from coder_tui.lsp.file_checks import FileChecks
from coder_tui.lsp.file_state import FileState, Items
from coder_tui.lsp.host_client import LspHostClient
from coder_tui.lsp.report import Report, join_reports, worst_status
from coder_tui.lsp.selection import LspContext, Selected, Selection, Selector
from coder_tui.lsp.wire import Answered, Checked, Published, Question, ServerOrder, ServerState, StateChanged
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import DiagnosticsChanged, ServerStatusChanged
from coder_tui.shell.hosts.side import HostOptions
from coder_tui.tasks import BackgroundTasks
from coder_tui.workspace.files.confine import Workspace


@dataclass(frozen=True, slots=True)
class ServerLine:
    """`pid` is 0 if the server does not run; `command` and `root` are empty if it cannot be started."""

    language: str
    name: str
    status: ServerStatus
    is_started: bool = False
    root: str = ""
    command: tuple[str, ...] = ()
    pid: int = 0
    detail: str = ""
    said: str = ""


_IDLE_WORDS = {
    ServerStatus.FRESH: "ready",
    ServerStatus.LINTER_MISSING: "without its checker",
    ServerStatus.NOT_INSTALLED: "not installed",
    ServerStatus.UNTRUSTED: "not used here",
}
_WORDS = {ServerStatus.FRESH: "works", ServerStatus.LINTER_MISSING: "works without its checker"}


def state_words(line: ServerLine) -> str:
    return (_WORDS if line.is_started else _IDLE_WORDS).get(line.status, str(line.status))


def facts_of(line: ServerLine) -> tuple[tuple[str, str], ...]:
    """Return further facts about a server, each with its label."""
    known = (
        ("folder", line.root),
        ("command", " ".join(line.command)),
        ("process", str(line.pid or "")),
        ("reason", line.detail),
        ("output", line.said),
    )
    return tuple((label, text) for label, text in known if text)


def server_lines(
    known: Iterable[Selected], started: Sequence[ServerOrder], states: Mapping[str, ServerState]
) -> tuple[ServerLine, ...]:
    """Describe every known server; one that was started in several folders has a line for each."""
    lines: list[ServerLine] = []
    for selected in known:
        orders = [order for order in started if order.name == selected.spec.name]
        if orders:
            lines += [_started(selected, order, states.get(order.key)) for order in orders]
        else:
            lines.append(_idle(selected))
    return tuple(lines)


def _started(selected: Selected, order: ServerOrder, state: ServerState | None) -> ServerLine:
    # A server that runs without its checker finds nothing, so its line must say so.
    is_whole = state is None or state.status is not ServerStatus.FRESH or not order.lacks
    status = state.status if state else ServerStatus.STARTING
    return ServerLine(
        selected.spec.language,
        order.name,
        status if is_whole else ServerStatus.LINTER_MISSING,
        is_started=True,
        root=order.root,
        command=order.argv,
        pid=state.pid if state else 0,
        detail=(state.detail if state else "") or order.lacks,
        said=state.said if state else "",
    )


def _idle(selected: Selected) -> ServerLine:
    order = selected.order
    # The line shows the name separately.
    detail = selected.detail.removeprefix(f"{selected.spec.name}: ")
    return ServerLine(
        selected.spec.language,
        selected.spec.name,
        selected.status,
        root=order.root if order else "",
        command=order.argv if order else (),
        detail=detail.removeprefix(f"{selected.spec.name} not installed, "),
    )


PATIENCE = 30.0
"""Seconds that a direct question may take."""
_MOMENT = 1.0
_NOBODY_RUNS = "no language server is running yet; one starts when a file is first asked about"

Publish = Callable[[DiagnosticsChanged | ServerStatusChanged], None]


@dataclass(frozen=True, slots=True)
class FileProblems:
    """`items` is bounded, `total` counts all; `detail` says why something is unknown."""

    status: ServerStatus
    items: Items = ()
    total: int = 0
    detail: str = ""


class LspPool:
    """Starts one client per server and folder when first needed. No server makes a call here block or raise.

    `publish` is called in the event loop whenever the known problems of a file on disk change.
    """

    def __init__(
        self, workspace: Workspace, surroundings: LspContext, host: HostOptions, publish: Publish
    ) -> None:
        self._selector = Selector(surroundings)
        self._hosting = LspHostClient(host, self._hear)
        self._publish = publish
        self._files = FileChecks(workspace, self._selector, self._hosting, self._tell)
        self._background = BackgroundTasks()
        self._changes = ChangeChecks(self._files, self._hosting, self._background.start)

    async def diagnostics(self, path: Path, text: str, seconds: float | None = PATIENCE) -> FileProblems:
        """Return what all servers report about a file whose text on disk is `text`.

        With `seconds` None it waits as long as each server usually needs.
        """
        selection = await self._files.select(path, text)
        if not selection.orders:
            status, detail = self._files.absent(path, text, selection)
            return FileProblems(status, detail=detail)
        state = self._files.state(path)
        async with self._files.lock(path):
            state.changed_by_others(text)
            checked = await self._files.check(state, text, selection, seconds=seconds)
        details = [result.detail for result in checked.values() if result.detail]
        return FileProblems(
            _status(selection, checked),
            state.items,
            max(sum(result.total for result in checked.values()) - state.count_of_doubles, len(state.items)),
            "; ".join(details),
        )

    async def after_change(self, paths: Sequence[Path], before: Mapping[Path, str] | None = None) -> Report:
        """Report what a change of these files, already on disk, did to their problems; wait once for all.

        `before` has the texts before the change, "" for a new file. If a server has not seen a file yet,
        they are needed to tell new problems from old ones.
        """
        return await self._changes.check_written(paths, before or {})

    async def expect_write(self, path: Path, text: str) -> None:
        """Show servers a text that is about to be written, without waiting for them.

        Either `after_change` or `cancel_expected_write` must follow.
        """
        await self._changes.speculative.start(path, text)

    async def cancel_expected_write(self, path: Path) -> None:
        await self._changes.speculative.cancel(path)

    async def check_proposed(self, path: Path, text: str, before: str | None = None) -> Report:
        """Report what this text would do to the file's problems. Nothing is written or published.

        `before` is the text it is made from, if that text is not at this path yet.
        """
        return await self._changes.check_proposed(path, text, before)

    async def notify_changes(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Notify servers that a command, git or the user may have changed these; no waiting, no report.

        Returns the files that servers have open. Their known problems are about an earlier text, and some
        servers report nothing about the new one until `diagnostics` asks.
        """
        return await self._changes.notify_changed(paths)

    def warm(self, paths: Iterable[Path]) -> None:
        """Let servers start on these files in the background; what they report is not published."""
        for path in paths:
            if str(path) not in self._files.states:
                self._background.start(self._warm(path))

    def begin_turn(self) -> None:
        """Mark the start of a turn: problems that appear from now on are new."""
        for state in self._files.states.values():
            state.mark_turn_start()
            self._tell(state)

    def open_problems(self) -> Items:
        """Return the last known problems of all files that were checked."""
        return tuple(item for state in self._files.states.values() for item in state.items)

    def pop_late_reports(self) -> dict[Path, Report]:
        """Return, once, what servers reported about earlier changes after the wait for them was over."""
        late, self._files.late = self._files.late, {}
        return {path: join_reports(reports) for path, reports in late.items()}

    async def ask(
        self,
        question: Question,
        path: Path,
        text: str,
        *,
        line: int = 0,
        character: int = 0,
        query: str = "",
        seconds: float = PATIENCE,
    ) -> Answered:
        """Return the first server's answer that is not empty; positions are characters, from 0."""
        selection = await self._files.select(path, text)
        if not selection.orders or selection.language is None:
            status, detail = self._files.absent(path, text, selection)
            return Answered(status, is_able=False, detail=detail)
        fields = {
            "question": question,
            "seconds": seconds,
            "path": str(path),
            "text": text,
            "language": selection.language.id,
            "line": line,
            "character": character,
            "query": query,
        }
        orders = selection.orders
        # One text at a time: a server must not mistake this text for a proposal that is being checked.
        async with self._files.lock(path):
            return _best(await asyncio.gather(*(self._hosting.ask(order, **fields) for order in orders)))

    async def find_symbols(self, query: str, seconds: float = PATIENCE) -> Answered:
        """Search the whole workspace through the servers that run."""
        fields = {"question": Question.WORKSPACE_SYMBOLS, "seconds": seconds, "query": query}
        running = self._hosting.started
        answers = await asyncio.gather(*(self._hosting.ask(order, **fields) for order in running))
        if not answers:
            return Answered(ServerStatus.UNSUPPORTED, is_able=False, detail=_NOBODY_RUNS)
        best = _best(answers)
        return replace(best, symbols=tuple(symbol for answer in answers for symbol in answer.symbols))

    async def servers(self) -> tuple[ServerLine, ...]:
        """Return every known server, with its state if it was started."""
        states = {state.key: state for state in await self._hosting.states()}
        return server_lines(await self._selector.for_workspace(), self._hosting.started, states)

    async def restart(self, name: str) -> bool:
        """Restart a server in each of its folders; False if none of that name was started."""
        orders = [order for order in self._hosting.started if order.name == name]
        for order in orders:
            await self._hosting.restart(await self._selector.renewed(order))
        return bool(orders)

    async def close(self) -> None:
        """Return when no server is left."""
        self._changes.speculative.close()
        self._background.cancel()
        await self._hosting.close()

    async def _warm(self, path: Path) -> None:
        text = await self._files.load(path)
        if isinstance(text, str):
            await self.ask(Question.SYMBOLS, path, text)

    def _hear(self, event: Published | StateChanged) -> None:
        if isinstance(event, StateChanged):
            name, language = self._files.languages.get(event.key, (event.key, ""))
            self._publish(ServerStatusChanged(name, language, event.status, event.detail))
        elif (state := self._files.states.get(event.path)) is not None:
            state.record(event.key, event.items)
            self._tell(state)
            if event.key in state.awaited:
                self._background.start(self._confirm(state))

    async def _confirm(self, state: FileState) -> None:
        """Check again: a server may report on a text more than once; only a check tells if that was all."""
        async with self._files.lock(state.path):
            if state.awaited and self._files.is_open(state):
                selection = await self._files.select(state.path, state.text)
                await self._files.check(state, state.text, selection, seconds=_MOMENT)

    def _tell(self, state: FileState) -> None:
        if (items := state.items) != state.published:
            state.published = items
            self._publish(DiagnosticsChanged(state.shown, items))


def _status(selection: Selection, checked: Mapping[str, Checked]) -> ServerStatus:
    absent = (chosen.status for chosen in selection.servers if chosen.order is None)
    return worst_status((*(result.status for result in checked.values()), *absent))


def _best(answers: Sequence[Answered]) -> Answered:
    able = [answer for answer in answers if answer.is_able]
    if not able:
        return answers[0]
    filled = (answer for answer in able if answer.places or answer.symbols or answer.contents)
    return next(filled, min(able, key=lambda answer: answer.status is ServerStatus.FRESH))
