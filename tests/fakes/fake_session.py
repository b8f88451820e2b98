"""A session that does what the test tells it, with the methods that a screen uses."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from coder_tui.agent.diagnostics.lookup import FoundPlace, NamePlace
from coder_tui.agent.profiles.profiles import BUILD, Profile, built_in
from coder_tui.agent.session_state import TurnLock
from coder_tui.agent.undo.review import Reviewed
from coder_tui.agent.undo.undo import Forked, UndoResult, UndoScope
from coder_tui.lsp.pool import ServerLine
from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import (
    Event,
    ModeChanged,
    ProfileChanged,
    QueueChanged,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    UsageUpdated,
    UserMessageAdded,
)
from coder_tui.protocol.messages import Usage
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import Reply, cancels_turn
from coder_tui.protocol.subagents import ChildLine
from coder_tui.shell.jobs import JobState
from coder_tui.skills.command_files import CommandFiles
from coder_tui.workspace.undo.changed_files import ChangedFile
from tests.fakes.mcp_views import shown_servers
from tests.fakes.skill_files import session_skills_of


class FakeReport:
    """What commands printed and what was sent in other sessions, as the test says."""

    def __init__(self) -> None:
        self.outputs: dict[str, str] = {}
        self.sent: tuple[str, ...] = ()
        self.usage = UsageUpdated(Usage(), Usage(), 0, None)
        self.skills = session_skills_of()
        self.commands = CommandFiles(None, frozenset)

    async def sent_before(self) -> tuple[str, ...]:
        return self.sent

    async def export(self) -> str:
        return "# earlier work"

    async def whole_output(self, call_id: str) -> str | None:
        return self.outputs.get(call_id)


class FakeLookup:
    """Knows only what a test says about names."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.places: dict[str, FoundPlace] = {}
        self.lines: tuple[ServerLine, ...] = ()
        self.restarted: list[str] = []

    async def servers(self) -> tuple[ServerLine, ...]:
        return self.lines

    async def restart(self, name: str) -> bool:
        self.restarted.append(name)
        return True

    async def hover(self, path: str, place: NamePlace) -> str:
        return self.words.get(place.name, "Nothing is known of it.")

    async def definition(self, path: str, place: NamePlace) -> FoundPlace | str:
        return self.places.get(place.name, f"{place.name} of {path}:{place.line} comes from nowhere.")


class FakeShell:
    """Notes what ran; `hang` runs until it is stopped."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, bool]] = []
        self.stopped: list[str] = []

    async def run(self, command: str, *, is_shared: bool) -> None:
        self.ran.append((command, is_shared))
        if command == "hang":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.stopped.append(command)
                raise


class FakeJobs:
    """Commands in the background as the test says; `stopped` are those that were to be stopped."""

    def __init__(self) -> None:
        self.rows: tuple[JobState, ...] = ()
        self.outputs: dict[str, str] = {}
        self.stopped: list[str] = []
        self._listeners: list[Callable[[], None]] = []

    def show(self, *rows: JobState) -> None:
        self.rows = rows
        for listener in tuple(self._listeners):
            listener()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def states(self) -> tuple[JobState, ...]:
        return self.rows

    def output(self, job_id: str) -> str:
        return self.outputs.get(job_id, "")

    async def stop(self, job_id: str) -> None:
        self.stopped.append(job_id)


class FakeForks:
    """Knows what was said as a test tells; notes from where forks were made."""

    def __init__(self) -> None:
        self.words: dict[str, str] = {}
        self.made: list[str] = []
        self.problem = ""
        self.is_unused = False

    def text_of(self, message_id: str) -> str:
        return self.words[message_id]

    async def fork(self, before: str = "") -> Forked:
        if self.problem:
            raise UserError(self.problem)
        self.made.append(before)
        return Forked("fork", "This is a fork.")


class FakeReview:
    """Takes a review as if all of it could be done, unless there is a problem."""

    def __init__(self) -> None:
        self.stale_files: set[Path] = set()
        self.settled: list[tuple[Reviewed, ...]] = []
        self.problem: UserError | None = None

    async def stale(self, files: Iterable[ChangedFile]) -> frozenset[Path]:
        return frozenset(file.path for file in files if file.path in self.stale_files)

    async def settle(self, reviewed: Iterable[Reviewed]) -> str:
        if self.problem is not None:
            raise self.problem
        self.settled.append(tuple(reviewed))
        return "This is my review."


class FakeProfiles:
    """The built-in ones; one leads."""

    def __init__(self, session: "FakeSession") -> None:
        self._session = session
        self.known = built_in()
        self.current = self.known.get(BUILD)

    def use(self, name: str) -> Profile:
        self.current = self.known.leader(name)
        self._session.emit(ProfileChanged(name))
        return self.current


class FakeChildren:
    """Sub-agents as the test says; `stopped` are those that were to be stopped."""

    def __init__(self) -> None:
        self.rows: tuple[ChildLine, ...] = ()
        self.said: dict[str, tuple[Event, ...]] = {}
        self.stopped: list[str] = []

    async def lines(self) -> tuple[ChildLine, ...]:
        return self.rows

    def stop(self, child_id: str) -> bool:
        self.stopped.append(child_id)
        return any(line.child_id == child_id and not line.state.is_over for line in self.rows)

    async def events(self, child_id: str) -> tuple[Event, ...]:
        return self.said[child_id]


class Lasting:
    """Work that lasts until the test ends it; `stopped` counts how often it was cut off."""

    def __init__(self) -> None:
        self.begun = 0
        self.stopped = 0
        self.end = asyncio.Event()

    async def work(self) -> None:
        self.begun += 1
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise


class FakeVerifier:
    """What a check came to, as the test says; it runs until the test ends it."""

    newest = ""

    def __init__(self) -> None:
        self.run = Lasting()
        self.offers = 0

    async def offer(self) -> None:
        self.offers += 1

    async def command(self) -> str:
        return "make test"

    async def run_now(self, command: str) -> TerminalBlock:
        await self.run.work()
        return TerminalBlock(command, "", 0)


class FakeTurns:
    """Takes a turn back once the test lets it."""

    def __init__(self) -> None:
        self.run = Lasting()

    async def undo(self, scope: UndoScope) -> UndoResult:
        await self.run.work()
        return UndoResult(1, "what was said", scope)


class FakeCompaction:
    """Summarises until the test ends it."""

    def __init__(self) -> None:
        self.run = Lasting()

    async def compact(self, wish: str) -> None:
        await self.run.work()


class FakeLock(TurnLock):
    """Knows of turns what the fake session does."""

    def __init__(self, session: "FakeSession") -> None:
        super().__init__()
        self._session = session

    @property
    def is_in_turn(self) -> bool:
        return self._session._end is not None


class FakeSession:
    """A turn runs from `submit` until `finish` or `interrupt`; events in between come from `emit`."""

    def __init__(self, directory: Path = Path("/srv/project"), earlier: tuple[Event, ...] = ()) -> None:
        self.id = "s-1"
        self.directory = directory
        self.is_kept = True
        self.mode = Mode.ASK
        self.model = "demo/model"
        self.report = FakeReport()
        self.shell = FakeShell()
        self.jobs = FakeJobs()
        self.mcp, _ = shown_servers()
        self.subagents = FakeChildren()
        self.lookup = FakeLookup()
        self.verifier = FakeVerifier()
        self.turns = FakeTurns()
        self.compaction = FakeCompaction()
        self.lock = FakeLock(self)
        self.submitted: list[str] = []
        self.answers: list[tuple[str, Reply]] = []
        self.interrupts = 0
        self.files: tuple[ChangedFile, ...] = ()
        self.review = FakeReview()
        self.forks = FakeForks()
        self.profiles = FakeProfiles(self)
        self.is_closed = False
        self.fails_before_storing: Event | None = None
        self.fails_to_close: UserError | None = None
        self._earlier = earlier
        self._queue: list[str] = []
        self._listeners: list[Callable[[Event], None]] = []
        self._end: asyncio.Event | None = None

    @property
    def is_busy(self) -> bool:
        return self.lock.is_busy

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def history(self) -> tuple[Event, ...]:
        title = "earlier work" if self._earlier else ""
        directory = str(self.directory)
        started = SessionStarted(self.id, title, directory, self.model, self.mode, bool(self._earlier))
        return (started, *self._earlier)

    def emit(self, *events: Event) -> None:
        for event in events:
            for listener in list(self._listeners):
                listener(event)

    async def submit(self, text: str) -> None:
        if self._end is not None:
            self._queue.append(text)
            self.emit(QueueChanged(tuple(self._queue)))
            return
        self.submitted.append(text)
        number = len(self.submitted)
        self._end = end = asyncio.Event()
        self.emit(TurnStarted(number))
        if self.fails_before_storing is not None:
            self._end = None
            self.emit(self.fails_before_storing)
            return
        self.emit(UserMessageAdded(f"u{number}", text))
        await end.wait()

    def finish(self, outcome: TurnOutcome = TurnOutcome.DONE) -> None:
        assert self._end is not None, "no turn runs"
        self._end.set()
        self._end = None
        self.emit(TurnFinished(len(self.submitted), outcome, "", 10))

    def interrupt(self) -> bool:
        if self._end is None:
            return False
        self.interrupts += 1
        self.finish(TurnOutcome.INTERRUPTED)
        return True

    def withdraw_queued(self) -> tuple[str, ...]:
        texts, self._queue = tuple(self._queue), []
        if texts:
            self.emit(QueueChanged(()))
        return texts

    def answer(self, request_id: str, reply: Reply) -> None:
        self.answers.append((request_id, reply))
        if cancels_turn(reply):
            self.interrupt()

    @property
    def turn(self) -> int:
        return len(self.submitted)

    async def has_git_changes(self) -> bool:
        return True

    async def changed_files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
        return self.files

    def set_mode(self, mode: Mode) -> None:
        self.mode = mode
        self.emit(ModeChanged(mode))

    async def close(self) -> None:
        if self.fails_to_close is not None:
            raise self.fails_to_close
        self.is_closed = True
