"""The core for Python programs: `from coder_tui import Session`."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from coder_tui.agent.session import Session as Core
from coder_tui.bootstrap.invocation import SessionOptions, existing_folder, find_invocation
from coder_tui.bootstrap.session_library import open_folder
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError, UserError
from coder_tui.protocol.events import Event, MessageFinished, RequestOpened, TurnFailed, TurnFinished
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Request, unattended

Verdict = bool | ApprovalReply
Approve = Callable[[ApprovalRequest], Verdict | Awaitable[Verdict]]


def refuse(request: ApprovalRequest) -> Verdict:
    """Refuse every call that needs approval."""
    return ApprovalReply(Decision.NOBODY_THERE)


class Session:
    """A conversation with an agent in a folder. Use it on the event loop that opened it."""

    def __init__(self, core: Core, approve: Approve) -> None:
        self._core = core
        self._approve = approve

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: str | Path = ".",
        *,
        model: str | None = None,
        api_base: str | None = None,
        permission: str = "ask",
        agent: str | None = None,
        resume: str | None = None,
        config: str | Path | None = None,
        add_dirs: Iterable[str | Path] = (),
        approve: Approve = refuse,
    ) -> AsyncIterator["Session"]:
        """Open a session as the command line would with these flags. Raises `UserError` for invalid ones."""
        if permission not in list(Mode):
            raise UsageError(f"there is no mode {permission!r}; choose from {', '.join(Mode)}")
        options = SessionOptions(
            settings={("model", "name"): model, ("model", "api_base"): api_base},
            config=str(config or ""),
            mode=Mode(permission),
            added=tuple(map(str, add_dirs)),
            resume=resume,
            agent=agent or "",
        )
        invocation = await asyncio.to_thread(lambda: find_invocation(existing_folder(str(path)), options))
        opened = await open_folder(invocation)
        try:
            yield cls(opened.session, approve)
        finally:
            await opened.close()

    @property
    def id(self) -> str:
        """The id to pass as `resume=` later."""
        return self._core.id

    @property
    def directory(self) -> Path:
        return self._core.directory

    def history(self) -> tuple[Event, ...]:
        """Return all events so far, including those before the session was resumed."""
        return self._core.history()

    def interrupt(self) -> bool:
        """Stop the running turn. Returns False if there is none."""
        return self._core.interrupt()

    async def send(self, text: str) -> AsyncGenerator[Event, None]:
        """Run one turn and yield its events. If the caller stops reading, the turn stops."""
        if self._core.is_busy:
            raise UsageError("a turn of this session is already running; wait until it ends or interrupt it")
        turn = _Turn(self._core, self._approve)
        async with aclosing(turn.events(text)) as events:
            async for event in events:
                yield event

    async def ask(self, text: str) -> str:
        """Run one turn and return the model's final text. Raises `UserError` if the turn does not finish."""
        said = ""
        async with aclosing(self.send(text)) as events:
            async for event in events:
                match event:
                    case MessageFinished() if event.text:
                        said = event.text
                    case TurnFailed():
                        raise UserError(f"{event.message} {event.hint}".strip())
                    case TurnFinished() if event.outcome is not TurnOutcome.DONE:
                        raise UserError(event.message or f"the turn ended early: {event.outcome}")
                    case _:
                        pass
        return said


class _Turn:
    """The events of one turn. Its requests are answered at the same time."""

    def __init__(self, core: Core, approve: Approve) -> None:
        self._core = core
        self._approve = approve
        self._seen: asyncio.Queue[Event | None] = asyncio.Queue()
        self._answering: set[asyncio.Task[None]] = set()

    async def events(self, text: str) -> AsyncGenerator[Event, None]:
        unsubscribe = self._core.subscribe(self._handle_event)
        turn = asyncio.create_task(self._core.submit(text))
        turn.add_done_callback(lambda _: self._seen.put_nowait(None))
        try:
            while (event := await self._seen.get()) is not None:
                yield event
        finally:
            self._core.interrupt()
            await asyncio.wait({turn})
            unsubscribe()
            await self._settle()
        turn.result()

    def _handle_event(self, event: Event) -> None:
        self._seen.put_nowait(event)
        if isinstance(event, RequestOpened):
            self._answering.add(asyncio.create_task(self._answer(event.request)))

    async def _answer(self, request: Request) -> None:
        """Answer a request. Questions and plans need a user, so the agent decides for itself."""
        if not isinstance(request, ApprovalRequest):
            self._core.answer(request.id, unattended(request))
            return
        try:
            verdict = self._approve(request)
            settled = await verdict if inspect.isawaitable(verdict) else verdict
        except BaseException:
            # A failing approval function approves nothing. Its exception is raised after the turn.
            self._core.interrupt()
            raise
        self._core.answer(request.id, _reply(settled))

    async def _settle(self) -> None:
        """Raise what an approval function raised, to the caller that reads the events."""
        for task in self._answering:
            if not task.done():
                task.cancel()
        results = await asyncio.gather(*self._answering, return_exceptions=True)
        errors = (error for error in results if isinstance(error, Exception))
        if (error := next(errors, None)) is not None:
            raise error


def _reply(verdict: Verdict) -> ApprovalReply:
    if isinstance(verdict, ApprovalReply):
        return verdict
    return ApprovalReply(Decision.ALLOW_ONCE if verdict else Decision.DENY)
