"""Between a session and its language servers: what changed goes to them, what they say comes back in time.

The files of whose text no language server has spoken yet: marked, and asked about until one has.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet, WeakValueDictionary

from coder_tui.agent.diagnostics.format import check_of
from coder_tui.lsp.pool import FileProblems
from coder_tui.lsp.report import Report, joined, of_files
from coder_tui.protocol.diagnostics import IS_AWAITED, ProposalCheck, ServerStatus
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.events import (
    DiagnosticsAwaited,
    Event,
    FilesChanged,
    ProposalChecked,
    RequestClosed,
    RequestOpened,
    ServerStatusChanged,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from coder_tui.tools.base import ProposedText
from coder_tui.workspace.files.confine import Workspace
from coder_tui.workspace.files.text import load_if_there

AT_ONCE = 0.1
"""Seconds within which an answer needs no word that it is awaited."""
_TRIES = 4
_AT_A_TIME = 8
_IS_UNKNOWN = IS_AWAITED | {ServerStatus.CRASHED}

Begin = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]


class AwaitedFiles:
    """By name. `ask` tells how far the word about one can be relied on, None where no file is there."""

    def __init__(
        self,
        ask: Callable[[str], Awaitable[ServerStatus | None]],
        publish: Callable[[DiagnosticsAwaited], None],
        begin: Begin,
    ) -> None:
        self._ask = ask
        self._publish = publish
        self._begin = begin
        self._marked: dict[str, None] = {}
        self._asking: dict[str, asyncio.Task[bool]] = {}
        # Git may change hundreds of files at once.
        self._turn = asyncio.Semaphore(_AT_A_TIME)

    def leave(self, names: Iterable[str]) -> None:
        """They change again: nobody needs to know what is said of them as they are."""
        for name in names:
            if (asking := self._asking.pop(name, None)) is not None:
                asking.cancel()

    def note(self, names: Iterable[str], status: ServerStatus, *, asks: bool) -> None:
        """What is known of these since they changed; `asks` for more where that is not all."""
        is_unknown = status in _IS_UNKNOWN
        self._mark(names, is_marked=is_unknown)
        if is_unknown and asks:
            for name in names:
                self._ask_about(name)

    async def follow(self, names: Iterable[str]) -> None:
        """These changed, and somebody has to ask."""
        asking = {name: self._ask_about(name) for name in names}
        if asking:
            await asyncio.wait(asking.values(), timeout=AT_ONCE)
        self._mark([name for name, task in asking.items() if _is_open(task)], is_marked=True)

    def among(self, names: Iterable[str]) -> list[str]:
        """Those that are marked."""
        return [name for name in names if name in self._marked]

    def ask_again(self) -> None:
        """A server that failed may work now."""
        for name in self._marked:
            if name not in self._asking:
                self._ask_about(name)

    def _ask_about(self, name: str) -> "asyncio.Task[bool]":
        self.leave((name,))
        task: asyncio.Task[bool] = self._begin(self._until_known(name))
        self._asking[name] = task
        task.add_done_callback(lambda done: self._done(name, done))
        return task

    async def _until_known(self, name: str) -> bool:
        """What comes late is kept by the servers, for the next result."""
        for _ in range(_TRIES):
            async with self._turn:
                status = await self._ask(name)
            if status not in _IS_UNKNOWN:
                self._mark((name,), is_marked=False)
                return True
            if status is ServerStatus.CRASHED:
                break
        return False

    def _done(self, name: str, task: "asyncio.Task[bool]") -> None:
        if self._asking.get(name) is task:
            del self._asking[name]

    def _mark(self, names: Iterable[str], *, is_marked: bool) -> None:
        before = tuple(self._marked)
        for name in names:
            if is_marked:
                self._marked[name] = None
            else:
                self._marked.pop(name, None)
        if before != (now := tuple(self._marked)):
            self._publish(DiagnosticsAwaited(now))


def _is_open(task: "asyncio.Task[bool]") -> bool:
    """Whether it goes on, or came to no end; one that was cancelled is somebody else's."""
    return not task.done() or not (task.cancelled() or (task.exception() is None and task.result()))


log = logging.getLogger(__name__)
PATIENCE = 10.0
"""Seconds that an edit waits for its problems at most."""


class Servers(Protocol):
    """The language servers of a session."""

    async def diagnostics(self, path: Path, text: str) -> FileProblems: ...
    async def after_change(
        self, paths: Sequence[Path], before: Mapping[Path, str] | None = None
    ) -> Report: ...
    async def expect(self, path: Path, text: str) -> None: ...
    async def unexpect(self, path: Path) -> None: ...
    async def check_proposed(self, path: Path, text: str, before: str | None = None) -> Report: ...
    async def told_of_changes(self, paths: Iterable[Path]) -> tuple[Path, ...]: ...
    def begin_turn(self) -> None: ...
    def take_late(self) -> Mapping[Path, Report]: ...


class Agent(Protocol):
    """One who edits."""

    def turn_ended(self) -> None: ...


class ProblemDesk:
    """Hears a session's events. `proposals` are what calls that are decided on would write, by their id."""

    def __init__(
        self,
        servers: Servers,
        workspace: Workspace,
        publish: Callable[[Event], None],
        patience: float = PATIENCE,
    ) -> None:
        self.proposals: dict[str, tuple[ProposedText, ...]] = {}
        self.agents: WeakSet[Agent] = WeakSet()
        self._servers = servers
        self._workspace = workspace
        self._publish = publish
        self._patience = patience
        self._known: frozenset[str] = frozenset()
        self._awaited = AwaitedFiles(self._ask, publish, self._begin)
        self._late: list[tuple[tuple[Path, ...], Report]] = []
        self._editors: WeakValueDictionary[Path, Agent] = WeakValueDictionary()
        self._told: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._checks: dict[str, asyncio.Task[None]] = {}

    def hear(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._servers.begin_turn()
            case TurnFinished() | TurnFailed():
                for agent in tuple(self.agents):
                    agent.turn_ended()
            case FilesChanged(paths):
                self.changed_unseen(self._path_of(name) for name in paths if name not in self._known)
            case RequestOpened(request):
                if texts := self.proposals.get(request.call_id):
                    self._checks[request.id] = self._begin(self._check(request.call_id, texts))
            case RequestClosed(request_id):
                if (check := self._checks.pop(request_id, None)) is not None:
                    check.cancel()
            case ServerStatusChanged(status=ServerStatus.FRESH):
                self._awaited.ask_again()
            case _:
                pass

    @contextmanager
    def known(self, names: Iterable[str]) -> Iterator[None]:
        """Within, that these changed is no news: their edit is told by itself."""
        self._known = frozenset(names)
        try:
            yield
        finally:
            self._known = frozenset()

    def changed_unseen(self, paths: Iterable[Path]) -> None:
        """Something else than an edit may have changed these; nobody waits."""
        if changed := tuple(paths):
            self._begin(self._tell_changes(changed))

    async def expect(self, path: Path, text: str) -> None:
        """An edit is about to write this; `after_edits` follows, or `unexpect`."""
        self._awaited.leave((self.name_of(path),))
        await self._servers.expect(path, text)

    def unexpect(self, path: Path) -> None:
        self._begin(self._unexpect(path))

    async def after_edits(self, edits: Mapping[Path, str], agent: Agent | None = None) -> Report:
        """What edits, which are on disk, did; `edits` are the texts before. Takes no longer than it may."""
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

    def take_late(self, agent: Agent | None = None) -> Report | None:
        """What came after nobody waited any more, of this agent's edits or of nobody's; told once."""
        late = [*self._late, *(((path,), report) for path, report in self._servers.take_late().items())]
        self._late = [(paths, report) for paths, report in late if not self._is_for(agent, paths)]
        mine = [report for paths, report in late if self._is_for(agent, paths)]
        return joined(mine) if mine else None

    def is_news(self, words: str) -> bool:
        """Whether this was never asked before."""
        is_news = words not in self._told
        self._told.add(words)
        return is_news

    def name_of(self, path: Path) -> str:
        return self._workspace.locate(str(path)).shown

    async def close(self) -> None:
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _check(self, call_id: str, texts: tuple[ProposedText, ...]) -> None:
        """Again while servers start or are busy: the person is still reading."""
        shown: ProposalCheck | None = None
        for _ in range(_TRIES):
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
        return of_files(dict(zip(checks, await asyncio.gather(*checks.values()), strict=True)))

    def _is_for(self, agent: Agent | None, paths: tuple[Path, ...]) -> bool:
        """What an agent did that is no more goes to whoever comes first."""
        editors = {self._editors.get(path) for path in paths} - {None}
        return not editors or agent in editors

    def _came_late(self, check: "asyncio.Task[Report]", paths: tuple[Path, ...]) -> None:
        if not check.cancelled() and check.exception() is None:
            self._late.append((paths, check.result()))
            self._awaited.note(tuple(map(self.name_of, paths)), check.result().status, asks=True)

    async def _tell_changes(self, paths: tuple[Path, ...]) -> None:
        names = [self.name_of(path) for path in paths]
        self._awaited.leave(names)
        renewed = await self._servers.told_of_changes(paths)
        # Some servers say nothing unless they are asked.
        await self._awaited.follow({*map(self.name_of, renewed), *self._awaited.among(names)})

    async def _unexpect(self, path: Path) -> None:
        await self._servers.unexpect(path)
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
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("language servers", exc_info=error)
