"""One turn: model → tools → model, until it is done, stopped, or at a limit.

Plays a turn to its end, whatever that is, and tells of it.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol
from uuid import uuid4

from coder_tui.agent.attachments.files import no_attachments, told
from coder_tui.agent.calls.results import cancelled_json
from coder_tui.agent.calls.runner import ToolRunner
from coder_tui.agent.context.conversation import Conversation
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.pending import HeldAttachments
from coder_tui.agent.title import SessionName
from coder_tui.agent.turn.limits import Limits, RepeatDetector, SpendCap, SpendLimitError, no_cap
from coder_tui.agent.turn.model_call import ModelStep, ReplyDraft
from coder_tui.agent.turn.model_request import RequestBuilder
from coder_tui.agent.turn.usage import UsageMeter
from coder_tui.agent.verify.verify import Check, no_check
from coder_tui.llm.client import ModelRequest
from coder_tui.protocol.errors import MessageRefusedError, ModelError, ModelErrorKind, StorageError
from coder_tui.protocol.events import MessageFinished, Notice, TurnFailed, TurnFinished, TurnStarted
from coder_tui.protocol.messages import (
    AssistantMessage,
    Attachment,
    FinishReason,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from coder_tui.protocol.outcomes import NoticeLevel, TurnOutcome
from coder_tui.tasks import side_by_side, to_the_end


@dataclass(frozen=True, slots=True)
class TurnEnd:
    outcome: TurnOutcome
    message: str = ""


def goes_on() -> TurnEnd | None:
    """For a turn that ends when the model has nothing more to do."""
    return None


async def nothing_to_prepare() -> None:
    """For a session whose tools are always the same."""


class Room(Protocol):
    """Sees to it that the conversation fits the model's window."""

    async def make_room(self) -> None: ...

    async def after_overflow(self, tries: int, window: int | None) -> bool:
        """Whether there is more room than before, after so many tries, so that it is worth another.

        `window` is what the provider says that it takes, where it does.
        """


class NoRoom:
    """For a conversation that is sent as it is."""

    async def make_room(self) -> None:
        return None

    async def after_overflow(self, tries: int, window: int | None) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What a turn needs of its session; the functions read the session's present state."""

    bus: EventBus
    conversation: Conversation
    step: ModelStep
    runner: ToolRunner
    meter: UsageMeter
    limits: Limits
    known_tools: frozenset[str]
    request: RequestBuilder
    next_queued: Callable[[], str | None]
    prepare: Callable[[], Awaitable[None]] = nothing_to_prepare
    """Done once, before a turn's first request: its tools stay the same from then on."""
    attach: Callable[[str], Awaitable[tuple[Attachment, ...]]] = no_attachments
    """Finds what a message names for the model."""
    held: HeldAttachments = field(default_factory=HeldAttachments)
    room: Room = field(default_factory=NoRoom)
    cap: SpendCap = field(default_factory=no_cap)
    check: Check = no_check
    """Asked when the model has ended."""
    over: Callable[[], TurnEnd | None] = goes_on
    """Asked after each step: what ends the turn although the model would go on."""


class Turn:
    def __init__(self, services: TurnServices) -> None:
        self._services = services
        self._steps = 0
        self._model = ""
        self._repeats = RepeatDetector(services.limits.repeated_calls)

    async def run(self, text: str) -> TurnEnd:
        await self._say(text)
        while True:
            try:
                reply = await self._ask_model()
            except SpendLimitError as too_dear:
                return TurnEnd(TurnOutcome.LIMIT, str(too_dear))
            await self._run_calls(reply)
            if end := self._services.over():
                return end
            was_steered = await self._say_queued()
            if not reply.calls and not was_steered and not await self._must_go_on():
                return TurnEnd(TurnOutcome.DONE, _closing_words(reply))
            if limit := self._services.limits.exceeded(self._services.meter.steps):
                return TurnEnd(TurnOutcome.LIMIT, limit)

    async def settle(self) -> None:
        """After an interruption: keep what was said so far, and give every call a result."""
        draft = self._services.step.draft
        if draft.message_id and draft.finished is None and draft.whole_text:
            message = draft.message(self._model, self._services.known_tools)
            await self._services.conversation.add(message)
            self._finished(message, draft.whole_thinking, interrupted=True)
        await self.close_open_calls("the person stopped the turn; this call did not run")

    async def close_open_calls(self, reason: str) -> None:
        for call in self._services.conversation.open_calls():
            result = ToolMessage(uuid4().hex, call.id, call.name, cancelled_json(reason))
            await self._services.conversation.close_call(result)

    async def _say(self, text: str) -> None:
        services = self._services
        attachments = (*await services.attach(text), *services.held.all)
        await to_the_end(self._store(UserMessage(uuid4().hex, text, attachments)))
        services.held.forget(attachments)

    async def _store(self, message: UserMessage) -> None:
        await self._services.conversation.add(message)
        for event in told(message):
            self._services.bus.publish(event)

    async def _say_queued(self) -> bool:
        """What the person typed meanwhile goes out now; True when there was something."""
        was_steered = False
        # One by one: what an interruption leaves in the queue goes back to the person.
        while (text := self._services.next_queued()) is not None:
            try:
                await self._say(text)
            except MessageRefusedError as error:
                self._services.bus.publish(Notice(NoticeLevel.WARNING, str(error)))
            else:
                was_steered = True
        return was_steered

    async def _must_go_on(self) -> bool:
        """Whether what the model did was checked and it must hear of it, or of what was typed meanwhile."""
        failure = await self._services.check()
        if failure is not None:
            # Not as a person's words: a check prints what it likes, and must not call files or skills by it.
            message = UserMessage(uuid4().hex, failure.words, (failure.output,), is_typed=False)
            await to_the_end(self._store(message))
        return await self._say_queued() or failure is not None

    async def _ask_model(self) -> AssistantMessage:
        await self._services.room.make_room()
        tries = 0
        while True:
            try:
                return await self._paid_reply()
            except ModelError as error:
                is_overflow, room = error.kind is ModelErrorKind.OVERFLOW, self._services.room
                if not is_overflow or not await room.after_overflow(tries, error.window):
                    raise
            tries += 1

    async def _paid_reply(self) -> AssistantMessage:
        services = self._services
        async with services.cap.call(services.meter, services.request, services.conversation.for_model):
            draft = await self._request()
            message = draft.message(self._model, services.known_tools)
            # To the end: a reply that is kept is paid for.
            await to_the_end(self._keep(message, draft))
        self._warn_of_unknown_price(message)
        self._steps += 1
        return message

    async def _keep(self, message: AssistantMessage, draft: ReplyDraft) -> None:
        services = self._services
        await services.conversation.add(message)
        services.step.forget()
        self._finished(message, draft.whole_thinking, interrupted=False)
        await services.meter.add(message)

    async def _request(self) -> ReplyDraft:
        services = self._services
        request = services.request(services.conversation.for_model)
        self._model = request.model
        try:
            draft = await services.step.run(request, uuid4().hex, services.conversation.call_ids)
        except asyncio.CancelledError:
            await to_the_end(self._pay_stopped(request))
            raise
        if draft.finished is not None:
            services.meter.check_count(request, draft.finished.usage.input_tokens)
        return draft

    async def _pay_stopped(self, request: ModelRequest) -> None:
        """Who stops a reply has still paid for it; between two attempts none is on its way."""
        draft, meter = self._services.step.draft, self._services.meter
        if draft.message_id and (reply := meter.stopped(request, draft.said, draft.message_id)):
            await meter.add_apart(reply)

    def _warn_of_unknown_price(self, message: AssistantMessage) -> None:
        if self._steps == 0 and self._services.cap.limit is not None and message.usage.cost is None:
            text = f"limits.max_cost cannot hold: no price is known for {message.model}."
            self._services.bus.publish(Notice(NoticeLevel.WARNING, text))

    def _finished(self, message: AssistantMessage, thinking: str, *, interrupted: bool) -> None:
        self._services.bus.publish(MessageFinished(message.id, message.text, thinking, interrupted))

    async def _run_calls(self, reply: AssistantMessage) -> None:
        """Calls that only look run side by side; the others one by one, in the model's order."""
        is_concurrent = self._services.runner.is_concurrent
        await side_by_side(reply.calls, is_concurrent, lambda call: self._run_call(call, reply))

    async def _run_call(self, call: ToolCall, reply: AssistantMessage) -> None:
        is_cut = reply.finish is FinishReason.LENGTH and call is reply.calls[-1]
        is_repeat = self._repeats.is_repeat(call)
        runner = self._services.runner
        rest = reply.calls[reply.calls.index(call) + 1 :]
        await runner.execute(
            call, reply.id, is_repeat=is_repeat, is_cut=is_cut, edits_follow=any(map(runner.is_edit, rest))
        )


def _closing_words(reply: AssistantMessage) -> str:
    match reply.finish:
        case FinishReason.LENGTH:
            return "The reply was cut at the model's output limit."
        case FinishReason.REFUSAL:
            return "The model declined to answer."
        case FinishReason.STOP | FinishReason.TOOL_CALLS:
            return ""


log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TurnPlayer:
    services: TurnServices
    name: SessionName
    note: Callable[[int], Awaitable[None]]
    """Writes down where the turn of this number begins."""

    async def play(self, number: int, text: str) -> None:
        """Only what ends the program gets through: a bug must not take the person's session with it."""
        began, bus = time.monotonic(), self.services.bus
        self.services.meter.start_turn(number)
        self.services.cap.begin()
        bus.publish(TurnStarted(number))
        turn = Turn(self.services)
        try:
            end = await self._run(turn, number, text)
        except ModelError as error:
            await self._fail(turn, number, error.message, error.hint)
        except MessageRefusedError as error:
            await self._fail(turn, number, str(error), "")
        except StorageError as error:
            await self._fail(turn, number, f"{error}.", "The turn stopped there; earlier messages are safe.")
        except Exception as error:
            log.exception("turn %d failed", number)
            await self._fail(turn, number, f"Internal error: {error!r}", "The log file has the details.")
        else:
            duration = round((time.monotonic() - began) * 1000)
            bus.publish(TurnFinished(number, end.outcome, end.message, duration))

    async def _run(self, turn: Turn, number: int, text: str) -> TurnEnd:
        limits = self.services.limits
        try:
            async with asyncio.timeout(limits.seconds):
                await self.note(number)
                await self.name.name_after(text)
                await self.services.prepare()
                return await turn.run(text)
        except TimeoutError:
            await turn.settle()
            return TurnEnd(TurnOutcome.LIMIT, limits.out_of_time)
        except asyncio.CancelledError:
            await turn.settle()
            return TurnEnd(TurnOutcome.INTERRUPTED)

    async def _fail(self, turn: Turn, number: int, message: str, hint: str) -> None:
        await turn.close_open_calls("the turn failed before this call ended; it may have run")
        self.services.bus.publish(TurnFailed(number, message, hint))
