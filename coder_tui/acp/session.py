"""One session that an editor holds: its prompts go in, what happens comes out."""

import asyncio
from dataclasses import replace

from acp import Client, RequestError
from acp.helpers import ContentBlock
from acp.schema import AvailableCommandsUpdate, StopReason

from coder_tui.acp.calls import Calls
from coder_tui.acp.commands import called, offered
from coder_tui.acp.opening import Opened, Opener, Wish
from coder_tui.acp.prompts import EditorFiles, read_prompt
from coder_tui.acp.requests import ALLOW, REJECT_ALWAYS, Asking, Cancelled, Chosen, Refusals, trust_question
from coder_tui.acp.updates import (
    Options,
    message,
    options_of,
    persons,
    report,
    thought,
    update_of,
    update_options,
)
from coder_tui.acp.wire import Outbox
from coder_tui.agent.session import Session
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.events import (
    Event,
    MessageFinished,
    ModeChanged,
    ModelChanged,
    Notice,
    RequestClosed,
    RequestOpened,
    SubagentEvent,
    TextDelta,
    ToolFinished,
    ToolProgressed,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    UserMessageAdded,
)
from coder_tui.protocol.messages import FinishReason
from coder_tui.protocol.outcomes import TurnOutcome

FAILED = -32603
BUSY = "a prompt of this session is being worked on; cancel it first, or wait for its end"


class ServedSession:
    """Call `begin` when the editor knows of it."""

    def __init__(
        self, wish: Wish, opened: Opened, opener: Opener, client: Client, *, asks_editor: bool
    ) -> None:
        self._wish = replace(wish, resume=opened.session.id)
        self._opener = opener
        self._client = client
        self._refusals = Refusals()
        self._outbox = Outbox(client, opened.session.id)
        self._is_prompted = False
        self._is_cancelled = False
        self._asked_for_trust = False
        self._model = ""
        self._offered: AvailableCommandsUpdate | None = None
        self._files = EditorFiles(client, opened.session.id) if asks_editor else None
        self._attach(opened)

    @property
    def session(self) -> Session:
        return self._opened.session

    @property
    def options(self) -> Options:
        """What can be set, and how it stands."""
        return options_of(self.session.mode, self.session.model, self._opened.models)

    def begin(self) -> None:
        """What the person should know before the first prompt, and what can be called."""
        self._offer()
        for event in self.session.history():
            if isinstance(event, Notice):
                self._plain(event)

    async def replay(self) -> None:
        """All that was said and done, as it once came."""
        calls = self.session.record.all_calls()
        for event in self.session.history():
            match event:
                case UserMessageAdded(message_id, text):
                    self._outbox.put(persons(text, message_id))
                case MessageFinished():
                    self._whole_message(event)
                case ToolFinished(call_id):
                    self._calls.ended(event, *calls.get(call_id, (None, None)))
                case _:
                    if update := update_of(event):
                        self._outbox.put(update)
        self._offer()
        await self._outbox.flushed()

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
        await self._outbox.flushed()

    async def set_model(self, name: str) -> None:
        """From the next turn on; told by an update then."""
        if name not in self._opened.models:
            raise UsageError(f"{name!r} is none of the models that were offered")
        await self._opened.use_model(name)
        self._model = name
        await self._outbox.flushed()

    def cancel(self) -> None:
        self._is_cancelled = True
        self.session.interrupt()

    async def close(self) -> None:
        self._asking.close()
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
        text = await called(self.session, prompt.text, lambda words: self._outbox.put(report(words)))
        if text is not None and not self._is_cancelled:
            for attachment in prompt.attachments:
                self.session.held.hold(attachment)
            self._end: TurnFinished | TurnFailed | None = None
            self._prompts = 1
            await self.session.submit(text)
            await self._outbox.flushed()
            return self._reason()
        await self._outbox.flushed()
        return "cancelled" if self._is_cancelled else "end_turn"

    def _offer(self) -> None:
        """The commands of now, where they are others: a skill was written, a server brought its prompts."""
        now = offered(self.session)
        if now != self._offered:
            self._offered = now
            self._outbox.put(now)

    def _reason(self) -> StopReason:
        match self._end:
            case TurnFailed(message=text, hint=hint):
                raise RequestError(FAILED, self._opener.redact(f"{text} {hint}".strip()))
            case TurnFinished(outcome=TurnOutcome.INTERRUPTED):
                return "cancelled"
            case TurnFinished(outcome=TurnOutcome.LIMIT):
                return "max_turn_requests"
            case _:
                return _ended(self.session.record.finish)

    def _attach(self, opened: Opened) -> None:
        self._opened = opened
        self._is_open = True
        self._mode = opened.session.mode
        self._streamed: set[str] = set()
        self._prompts = 0
        self._calls = Calls(opened.session, self._outbox, asyncio.get_running_loop().call_later)
        self._asking = Asking(opened.session, self._client, self._outbox, self._calls, self._refusals)
        self._unsubscribe = opened.session.subscribe(self._on_event)
        if self._files is not None:
            opened.session.permissions.guard = self._files.check

    def _on_event(self, event: Event) -> None:
        match event:
            case ToolStarted():
                self._calls.started(event)
            case ToolProgressed():
                self._calls.progressed(event)
            case ToolFinished():
                self._calls.finished(event)
            case SubagentEvent():
                self._calls.child_did(event)
            case RequestOpened(request):
                self._asking.opened(request)
            case RequestClosed(request_id):
                self._asking.closed(request_id)
            case MessageFinished():
                self._whole_message(event)
            case UserMessageAdded(message_id, text):
                self._others_words(message_id, text)
            case _:
                self._plain(event)

    def _plain(self, event: Event) -> None:
        if isinstance(event, TurnFinished | TurnFailed):
            self._end = event
        if isinstance(event, TextDelta):
            self._streamed.add(event.message_id)
        if update := update_of(event):
            self._outbox.put(update)
        if isinstance(event, ModeChanged | ModelChanged):
            self._outbox.put(update_options(self.options))

    def _whole_message(self, event: MessageFinished) -> None:
        """Where it did not come in pieces."""
        if event.message_id in self._streamed:
            self._streamed.discard(event.message_id)
            return
        if event.thinking:
            self._outbox.put(thought(event.thinking, event.message_id))
        if event.text:
            self._outbox.put(message(event.text, event.message_id))

    def _others_words(self, message_id: str, text: str) -> None:
        """The editor shows its own prompt; what a check says in the person's place it does not know."""
        if self._prompts:
            self._prompts -= 1
        else:
            self._outbox.put(persons(text, message_id))

    async def _settle_trust(self) -> None:
        if self._asked_for_trust:
            return
        self._asked_for_trust = True
        inventory = await self._opened.trust.question()
        if inventory is None:
            return
        match await self._asking.ask(trust_question(inventory)):
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
        """What is trusted now is read when a session is opened; this one has said nothing yet."""
        self._mode = self.session.mode
        self._unsubscribe()
        self._is_open = False
        await self._opened.close()
        await self._open_again()

    async def _open_again(self) -> None:
        """Also at a later prompt, where the project's settings turned out to be wrong and were mended."""
        self._attach(await self._opener.open(self._wish))
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
