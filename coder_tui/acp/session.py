"""One session of an editor: receives its prompts and sends updates. The caller provides an `Opener`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from acp import Client, RequestError
from acp.helpers import ContentBlock
from acp.schema import AvailableCommandsUpdate, StopReason

from coder_tui.acp.prompts import EditorFiles, available_commands, read_prompt, run_command
from coder_tui.acp.requests import (
    ALLOW,
    REJECT_ALWAYS,
    Cancelled,
    Chosen,
    EditorRequests,
    Refusals,
    trust_question,
)
from coder_tui.acp.updates import (
    CallUpdates,
    Options,
    Outbox,
    config_options,
    message,
    modes_of,
    report,
    thought,
    update_of,
    update_options,
    user_message,
)
from coder_tui.agent.session import Session
from coder_tui.bootstrap.invocation import TrustQuestion
from coder_tui.protocol import events
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.events import Event
from coder_tui.protocol.messages import FinishReason
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.storage.store import SessionInfo


@dataclass(frozen=True, slots=True)
class OpenOptions:
    """The session to open. `resume` is the id of a stored one; `servers` are MCP servers as settings."""

    directory: str
    added: tuple[str, ...] = ()
    resume: str = ""
    servers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opened:
    """An open session. `close` ends it and all that it uses; `use_model` accepts one of `models`."""

    session: Session
    trust: TrustQuestion
    close: Callable[[], Awaitable[None]]
    models: tuple[str, ...]
    use_model: Callable[[str], Awaitable[None]]


class Opener(Protocol):
    """Opens sessions. Raises `UserError` with a message for the user."""

    async def open(self, options: OpenOptions) -> Opened: ...

    async def stored(self, directory: str | None, most: int) -> tuple[SessionInfo, ...]:
        """Return the stored sessions that have messages, the most recently used first."""

    def redact(self, text: str) -> str: ...


FAILED = -32603
BUSY = "this session is already working on a prompt; wait until it ends or cancel it"


class ServedSession:
    """Serves one session. Call `begin` once the editor knows its id."""

    def __init__(
        self, options: OpenOptions, opened: Opened, opener: Opener, client: Client, *, asks_editor: bool
    ) -> None:
        self._options = replace(options, resume=opened.session.id)
        self._opener = opener
        self._client = client
        self._refusals: Refusals = set()
        self._outbox = Outbox(client, opened.session.id)
        self._is_prompted = False
        self._is_cancelled = False
        self._asked_for_trust = False
        self._model = ""
        self._last_offer: AvailableCommandsUpdate | None = None
        self._files = EditorFiles(client, opened.session.id) if asks_editor else None
        self._attach(opened)

    @property
    def session(self) -> Session:
        return self._opened.session

    @property
    def options(self) -> Options:
        """The options that the editor can set, with their values."""
        return config_options(self.session.mode, self.session.model, self._opened.models)

    @property
    def state(self) -> dict[str, Any]:
        """What the response to an opened session reports."""
        return {"modes": modes_of(self.session.mode), "config_options": self.options}

    def begin(self) -> None:
        """Send the notices and the available commands."""
        self._offer()
        for event in self.session.history():
            if isinstance(event, events.Notice):
                self._forward(event)

    async def replay(self) -> None:
        """Send the whole stored conversation."""
        calls = self.session.report.all_calls()
        for event in self.session.history():
            match event:
                case events.UserMessageAdded(message_id, text):
                    self._outbox.put(user_message(text, message_id))
                case events.MessageFinished():
                    self._whole_message(event)
                case events.ToolFinished(call_id):
                    self._calls.ended(event, *calls.get(call_id, (None, None)))
                case _:
                    if update := update_of(event):
                        self._outbox.put(update)
        self._offer()
        await self._outbox.flush()

    async def prompt(self, blocks: list[ContentBlock]) -> StopReason:
        if self._is_prompted:
            raise RequestError(-32600, BUSY)
        self._is_prompted, self._is_cancelled = True, False
        try:
            return await self._prompt(blocks)
        finally:
            self._is_prompted = False

    async def set_mode(self, mode: Mode) -> None:
        self.session.set_mode(mode)
        await self._outbox.flush()

    async def set_model(self, name: str) -> None:
        """Use another model from the next turn on. An update reports it then."""
        if name not in self._opened.models:
            raise UsageError(f"unknown model {name!r}; choose one of those that are listed")
        await self._opened.use_model(name)
        self._model = name
        await self._outbox.flush()

    def cancel(self) -> None:
        self._is_cancelled = True
        self.session.interrupt()

    async def close(self) -> None:
        self._requests.close()
        if self._is_open:
            self._unsubscribe()
            await self._opened.close()
        await self._outbox.close()

    async def _prompt(self, blocks: list[ContentBlock]) -> StopReason:
        prompt = read_prompt(blocks, self.session.directory)
        await self._settle_trust()
        if not self._is_open:
            await self._open_again()
        self._offer()
        text = await run_command(self.session, prompt.text, lambda words: self._outbox.put(report(words)))
        if text is not None and not self._is_cancelled:
            for attachment in prompt.attachments:
                self.session.inbox.held.hold(attachment)
            self._end: events.TurnFinished | events.TurnFailed | None = None
            self._prompts = 1
            await self.session.submit(text)
            await self._outbox.flush()
            return self._reason()
        await self._outbox.flush()
        return "cancelled" if self._is_cancelled else "end_turn"

    def _offer(self) -> None:
        """Send the available commands if they changed, for example because of a new skill."""
        now = available_commands(self.session)
        if now != self._last_offer:
            self._last_offer = now
            self._outbox.put(now)

    def _reason(self) -> StopReason:
        match self._end:
            case events.TurnFailed(message=text, hint=hint):
                raise RequestError(FAILED, self._opener.redact(f"{text} {hint}".strip()))
            case events.TurnFinished(outcome=TurnOutcome.INTERRUPTED):
                return "cancelled"
            case events.TurnFinished(outcome=TurnOutcome.LIMIT):
                return "max_turn_requests"
            case _:
                return _ended(self.session.report.finish)

    def _attach(self, opened: Opened) -> None:
        self._opened = opened
        self._is_open = True
        self._mode = opened.session.mode
        self._streamed: set[str] = set()
        self._prompts = 0
        self._calls = CallUpdates(opened.session, self._outbox, asyncio.get_running_loop().call_later)
        self._requests = EditorRequests(
            opened.session, self._client, self._outbox, self._calls, self._refusals
        )
        self._unsubscribe = opened.session.subscribe(self._on_event)
        if self._files is not None:
            opened.session.permissions.guard = self._files.check

    def _on_event(self, event: Event) -> None:
        match event:
            case events.ToolStarted():
                self._calls.started(event)
            case events.ToolProgressed():
                self._calls.progressed(event)
            case events.ToolFinished():
                self._calls.finished(event)
            case events.SubagentEvent():
                self._calls.child_progressed(event)
            case events.RequestOpened(request):
                self._requests.opened(request)
            case events.RequestClosed(request_id):
                self._requests.closed(request_id)
            case events.MessageFinished():
                self._whole_message(event)
            case events.UserMessageAdded(message_id, text):
                self._added_message(message_id, text)
            case _:
                self._forward(event)

    def _forward(self, event: Event) -> None:
        if isinstance(event, events.TurnFinished | events.TurnFailed):
            self._end = event
        if isinstance(event, events.TextDelta):
            self._streamed.add(event.message_id)
        if update := update_of(event):
            self._outbox.put(update)
        if isinstance(event, events.ModeChanged | events.ModelChanged):
            self._outbox.put(update_options(self.options))

    def _whole_message(self, event: events.MessageFinished) -> None:
        """Send a message that was not streamed."""
        if event.message_id in self._streamed:
            self._streamed.discard(event.message_id)
            return
        if event.thinking:
            self._outbox.put(thought(event.thinking, event.message_id))
        if event.text:
            self._outbox.put(message(event.text, event.message_id))

    def _added_message(self, message_id: str, text: str) -> None:
        """Send a user message that the editor does not show already, such as one from a check."""
        if self._prompts:
            self._prompts -= 1
        else:
            self._outbox.put(user_message(text, message_id))

    async def _settle_trust(self) -> None:
        if self._asked_for_trust:
            return
        self._asked_for_trust = True
        inventory = await self._opened.trust.question()
        if inventory is None:
            return
        match await self._requests.ask(trust_question(inventory)):
            case Chosen(option) if option == ALLOW:
                await self._opened.trust.accept(inventory)
                await self._reopen()
            case Chosen(option) if option == REJECT_ALWAYS:
                await self._opened.trust.refuse(inventory)
            case Cancelled():
                self._is_cancelled = True
            case _:
                pass

    async def _reopen(self) -> None:
        """Open the session again, because trusted settings are read on opening. It has no messages yet."""
        self._mode = self.session.mode
        self._unsubscribe()
        self._is_open = False
        await self._opened.close()
        await self._open_again()

    async def _open_again(self) -> None:
        """Open the session, if necessary at a later prompt, after the user fixed wrong settings."""
        self._attach(await self._opener.open(self._options))
        self.session.set_mode(self._mode)
        if self._model in self._opened.models:
            await self._opened.use_model(self._model)


def _ended(finish: FinishReason) -> StopReason:
    match finish:
        case FinishReason.LENGTH:
            return "max_tokens"
        case FinishReason.REFUSAL:
            return "refusal"
        case FinishReason.STOP | FinishReason.TOOL_CALLS:
            return "end_turn"
