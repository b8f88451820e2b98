"""All language servers of a session, as tools and edits see them: asked about files, told of changes.

Every language server that is known here, for a person who wonders what runs and why something does not.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coder_tui.lsp.changes import Changes
from coder_tui.lsp.file_checks import Examiner
from coder_tui.lsp.file_state import FileState, Items
from coder_tui.lsp.host_client import Hosting
from coder_tui.lsp.report import Report, joined, worst
from coder_tui.lsp.selection import Selected, Selection, Selector, Surroundings
from coder_tui.lsp.wire import Answered, Checked, Published, Question, ServerOrder, ServerState, StateTold
from coder_tui.protocol.diagnostics import ServerStatus
from coder_tui.protocol.events import DiagnosticsChanged, ServerStatusChanged
from coder_tui.shell.hosts.options import HostOptions
from coder_tui.workspace.files.confine import Workspace


@dataclass(frozen=True, slots=True)
class ServerLine:
    """`pid` is 0 where it does not run; `command` and `root` are empty where it cannot be started."""

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
    """What there is to know besides, each with a word for it."""
    known = (
        ("folder", line.root),
        ("command", " ".join(line.command)),
        ("process", str(line.pid or "")),
        ("because", line.detail),
        ("it said", line.said),
    )
    return tuple((label, text) for label, text in known if text)


def server_lines(
    known: Iterable[Selected], started: Sequence[ServerOrder], states: Mapping[str, ServerState]
) -> tuple[ServerLine, ...]:
    """A server that was started in several folders has a line for each."""
    lines: list[ServerLine] = []
    for selected in known:
        orders = [order for order in started if order.name == selected.spec.name]
        if orders:
            lines += [_started(selected, order, states.get(order.key)) for order in orders]
        else:
            lines.append(_idle(selected))
    return tuple(lines)


def _started(selected: Selected, order: ServerOrder, state: ServerState | None) -> ServerLine:
    # One that runs without its checker says so: that it runs is not all.
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
    # The name stands in a place of its own.
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
_NOBODY_RUNS = "no language server runs yet; one starts with the first file that it is asked about"

Publish = Callable[[DiagnosticsChanged | ServerStatusChanged], None]


@dataclass(frozen=True, slots=True)
class FileProblems:
    """`total` counts what `items`, which are bounded, leave out; `detail` says why not all is known."""

    status: ServerStatus
    items: Items = ()
    total: int = 0
    detail: str = ""


class LspPool:
    """One client a server and folder, started on first need. Nothing here blocks or raises for a server.

    `publish` hears of every change of what is known about files on disk, in the event loop.
    """

    def __init__(
        self, workspace: Workspace, surroundings: Surroundings, host: HostOptions, publish: Publish
    ) -> None:
        self._selector = Selector(surroundings)
        self._hosting = Hosting(host, self._hear)
        self._publish = publish
        self._files = Examiner(workspace, self._selector, self._hosting, self._tell)
        self._changes = Changes(self._files, self._hosting, self._aside)
        self._aside_tasks: set[asyncio.Task[None]] = set()

    async def diagnostics(self, path: Path, text: str, seconds: float | None = PATIENCE) -> FileProblems:
        """What all servers say of a file, whose text on disk this is; None waits as long as is usual."""
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
        """What a change of these files, which is on disk, did to their problems: one wait for all of them.

        `before` are the texts before the change, "" for a file that was not there. Where a server has not
        seen a file yet, they are what makes it possible to tell new problems from old ones.
        """
        return await self._changes.made(paths, before or {})

    async def expect(self, path: Path, text: str) -> None:
        """This is about to be written: servers may begin to think about it. Waits for none of them.

        Either `after_change` follows or `unexpect`.
        """
        await self._changes.foresight.expect(path, text)

    async def unexpect(self, path: Path) -> None:
        await self._changes.foresight.drop(path)

    async def check_proposed(self, path: Path, text: str, before: str | None = None) -> Report:
        """What this text would do to the file's problems; the disk stays as it is, nobody else is told.

        `before` is what it is made of, where that would come to this path only now.
        """
        return await self._changes.proposed(path, text, before)

    async def told_of_changes(self, paths: Iterable[Path]) -> tuple[Path, ...]:
        """Something else than an edit, a command or git, may have changed these: no waiting, no report.

        Returns those that servers have before them: what is known of them is about an earlier text, and
        some servers say nothing of the new one unless `diagnostics` are asked for.
        """
        return await self._changes.unseen(paths)

    def warm(self, paths: Iterable[Path]) -> None:
        """Let servers begin with these in the background; nobody is told what they say of them."""
        for path in paths:
            if str(path) not in self._files.states:
                self._aside(self._warm(path))

    def begin_turn(self) -> None:
        """What is there from now on is new."""
        for state in self._files.states.values():
            state.mark()
            self._tell(state)

    def open_problems(self) -> Items:
        """Of all files that were looked at, as the servers last said."""
        return tuple(item for state in self._files.states.values() for item in state.items)

    def take_late(self) -> dict[Path, Report]:
        """What servers said of earlier changes after nobody waited any more, by file; told once."""
        late, self._files.late = self._files.late, {}
        return {path: joined(reports) for path, reports in late.items()}

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
        """The first server's answer that is not empty; from 0, in characters."""
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
        # One text at a time: a server must not take this one for a proposal that is being checked.
        async with self._files.lock(path):
            return _best(await asyncio.gather(*(self._hosting.ask(order, **fields) for order in orders)))

    async def find_symbols(self, query: str, seconds: float = PATIENCE) -> Answered:
        """In the whole workspace, as the servers that run know it."""
        fields = {"question": Question.WORKSPACE_SYMBOLS, "seconds": seconds, "query": query}
        running = self._hosting.started
        answers = await asyncio.gather(*(self._hosting.ask(order, **fields) for order in running))
        if not answers:
            return Answered(ServerStatus.UNSUPPORTED, is_able=False, detail=_NOBODY_RUNS)
        best = _best(answers)
        return replace(best, symbols=tuple(symbol for answer in answers for symbol in answer.symbols))

    async def servers(self) -> tuple[ServerLine, ...]:
        """Every known server, and how it is doing where it was started."""
        states = {state.key: state for state in await self._hosting.states()}
        return server_lines(await self._selector.for_workspace(), self._hosting.started, states)

    async def restart(self, name: str) -> bool:
        """End a server and start it anew, in each folder; False where none of that name was started."""
        orders = [order for order in self._hosting.started if order.name == name]
        for order in orders:
            await self._hosting.restart(await self._selector.renewed(order))
        return bool(orders)

    async def close(self) -> None:
        """Return when no server is left."""
        self._changes.foresight.close()
        for task in tuple(self._aside_tasks):
            task.cancel()
        await self._hosting.close()

    def _aside(self, work: Coroutine[Any, Any, None]) -> None:
        """What nobody waits for."""
        task = asyncio.ensure_future(work)
        self._aside_tasks.add(task)
        task.add_done_callback(self._aside_tasks.discard)

    async def _warm(self, path: Path) -> None:
        text = await self._files.load(path)
        if isinstance(text, str):
            await self.ask(Question.SYMBOLS, path, text)

    def _hear(self, event: Published | StateTold) -> None:
        if isinstance(event, StateTold):
            name, language = self._files.languages.get(event.key, (event.key, ""))
            self._publish(ServerStatusChanged(name, language, event.status, event.detail))
        elif (state := self._files.states.get(event.path)) is not None:
            state.take(event.key, event.items)
            self._tell(state)
            if event.key in state.awaited:
                self._aside(self._confirm(state))

    async def _confirm(self, state: FileState) -> None:
        """A server may speak of a text more than once: whether that was all, a check can tell."""
        async with self._files.lock(state.path):
            if state.awaited and self._files.is_open(state):
                selection = await self._files.select(state.path, state.text)
                await self._files.check(state, state.text, selection, seconds=_MOMENT)

    def _tell(self, state: FileState) -> None:
        if (items := state.items) != state.told:
            state.told = items
            self._publish(DiagnosticsChanged(state.shown, items))


def _status(selection: Selection, checked: Mapping[str, Checked]) -> ServerStatus:
    absent = (chosen.status for chosen in selection.servers if chosen.order is None)
    return worst((*(result.status for result in checked.values()), *absent))


def _best(answers: Sequence[Answered]) -> Answered:
    able = [answer for answer in answers if answer.is_able]
    if not able:
        return answers[0]
    filled = (answer for answer in able if answer.places or answer.symbols or answer.contents)
    return next(filled, min(able, key=lambda answer: answer.status is ServerStatus.FRESH))
