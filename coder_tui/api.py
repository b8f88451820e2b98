"""The core for Python programs: `from coder_tui import Session`."""

import argparse
import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from coder_tui.agent.session import Session as Core
from coder_tui.bootstrap.folder_session import OwnClients, open_folder
from coder_tui.cli.invocation import read_invocation
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError, UserError
from coder_tui.protocol.events import Event, MessageFinished, RequestOpened, TurnFailed, TurnFinished
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Request, unattended

Verdict = bool | ApprovalReply
Approve = Callable[[ApprovalRequest], Verdict | Awaitable[Verdict]]


def refuse(request: ApprovalRequest) -> Verdict:
    """Nobody is asked: what would need an approval does not run."""
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
        """As the command line would with these flags; `UserError` tells what is wrong with them."""
        if permission not in list(Mode):
            raise UsageError(f"there is no mode {permission!r}; choose from {', '.join(Mode)}")
        flags = argparse.Namespace(
            model=model,
            api_base=api_base,
            permission=permission,
            agent=agent,
            resume=resume,
            config=None if config is None else str(config),
            add_dir=[str(folder) for folder in add_dirs],
        )
        invocation = await asyncio.to_thread(read_invocation, flags, str(path))
        opened = await open_folder(invocation, OwnClients())
        try:
            yield cls(opened.session, approve)
        finally:
            await opened.close()

    @property
    def id(self) -> str:
        """`resume=` takes it."""
        return self._core.id

    @property
    def directory(self) -> Path:
        return self._core.directory

    def history(self) -> tuple[Event, ...]:
        """What was said and done so far, also before this session was resumed."""
        return self._core.history()

    def interrupt(self) -> bool:
        """Stop the running turn; False when there is none."""
        return self._core.interrupt()

    async def send(self, text: str) -> AsyncGenerator[Event, None]:
        """One turn, event by event, to its end or failure. Who stops reading stops the turn."""
        if self._core.is_busy:
            raise UsageError("a turn of this session is running; wait for its end, or interrupt it")
        turn = _Turn(self._core, self._approve)
        async with aclosing(turn.events(text)) as events:
            async for event in events:
                yield event

    async def ask(self, text: str) -> str:
        """One turn to its end; returns the model's last words. `UserError` where the turn came to none."""
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
    """The events of one turn; its requests are answered beside them."""

    def __init__(self, core: Core, approve: Approve) -> None:
        self._core = core
        self._approve = approve
        self._seen: asyncio.Queue[Event | None] = asyncio.Queue()
        self._answering: set[asyncio.Task[None]] = set()

    async def events(self, text: str) -> AsyncGenerator[Event, None]:
        unsubscribe = self._core.subscribe(self._take)
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

    def _take(self, event: Event) -> None:
        self._seen.put_nowait(event)
        if isinstance(event, RequestOpened):
            self._answering.add(asyncio.create_task(self._answer(event.request)))

    async def _answer(self, request: Request) -> None:
        """Questions and plans are for a person: the agent goes on by its own judgement."""
        if not isinstance(request, ApprovalRequest):
            self._core.answer(request.id, unattended(request))
            return
        try:
            verdict = self._approve(request)
            settled = await verdict if inspect.isawaitable(verdict) else verdict
        except BaseException:
            # A program whose approval fails has not approved; it hears of its failure when the turn is over.
            self._core.interrupt()
            raise
        self._core.answer(request.id, _reply(settled))

    async def _settle(self) -> None:
        """What an approval raised goes to whoever reads the events."""
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
