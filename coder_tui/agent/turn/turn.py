"""Run one turn: model → tools → model, until it is done, stopped, or at a limit; then report how it ended."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from uuid import uuid4

from coder_tui.agent.attachments.files import message_events
from coder_tui.agent.calls.results import cancelled_json
from coder_tui.agent.calls.runner import ToolRunner
from coder_tui.agent.context.compaction import Compactor, ModelContext
from coder_tui.agent.pending import Inbox
from coder_tui.agent.session_state import SessionName
from coder_tui.agent.turn.limits import Limits, RepeatDetector, SpendLimitError
from coder_tui.agent.turn.model_call import ModelStep, ReplyDraft
from coder_tui.agent.verify import Check, no_check
from coder_tui.llm.client import ModelRequest
from coder_tui.protocol.errors import MessageRefusedError, ModelError, ModelErrorKind, StorageError
from coder_tui.protocol.events import MessageFinished, TurnFailed, TurnFinished, TurnStarted
from coder_tui.protocol.messages import (
    AssistantMessage,
    FinishReason,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from coder_tui.protocol.outcomes import NoticeLevel, TurnOutcome
from coder_tui.storage.turns import Turns
from coder_tui.tasks import finish_despite_cancel, run_in_order


@dataclass(frozen=True, slots=True)
class TurnEnd:
    outcome: TurnOutcome
    message: str = ""


def never_early() -> TurnEnd | None:
    """Let a turn go on until the model has nothing more to do."""
    return None


async def nothing_to_prepare() -> None:
    """Start a turn at once."""


@dataclass(frozen=True, slots=True)
class TurnServices:
    """What the turns of one agent, of a session or a sub-agent, are run with."""

    context: ModelContext
    step: ModelStep
    runner: ToolRunner
    inbox: Inbox
    compactor: Compactor
    limits: Limits
    prepare: Callable[[], Awaitable[None]] = nothing_to_prepare
    """Called once, before a turn's first request: its tools stay the same from then on."""
    check: Check = no_check
    """Called when the model has ended; what it finds goes back to the model."""
    early_end: Callable[[], TurnEnd | None] = never_early
    """Called after each step; ends the turn although the model would go on."""


class Turn:
    def __init__(self, services: TurnServices) -> None:
        self._services = services
        self._context = services.context
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
            if end := self._services.early_end():
                return end
            was_steered = await self._say_queued()
            if not reply.calls and not was_steered and not await self._must_go_on():
                return TurnEnd(TurnOutcome.DONE, _closing_words(reply))
            if limit := self._services.limits.exceeded(self._context.meter.steps):
                return TurnEnd(TurnOutcome.LIMIT, limit)

    async def settle(self) -> None:
        """After an interruption, store the reply so far and give every call a result."""
        draft = self._services.step.draft
        if draft.message_id and draft.finished is None and draft.whole_text:
            message = self._message_of(draft)
            await self._context.conversation.add(message)
            self._finished(message, draft.whole_thinking, interrupted=True)
        await self.close_open_calls("the user stopped the turn; this call did not run")

    async def close_open_calls(self, reason: str) -> None:
        for call in self._context.conversation.open_calls():
            result = ToolMessage(uuid4().hex, call.id, call.name, cancelled_json(reason))
            await self._context.conversation.close_call(result)

    async def _say(self, text: str) -> None:
        inbox = self._services.inbox
        attachments = await inbox.attachments(text)
        await finish_despite_cancel(self._store(UserMessage(uuid4().hex, text, attachments)))
        inbox.held.forget(attachments)

    async def _store(self, message: UserMessage) -> None:
        await self._context.conversation.add(message)
        for event in message_events(message):
            self._context.bus.publish(event)

    async def _say_queued(self) -> bool:
        """Send what the user typed while the model worked; return True if there was something."""
        was_steered = False
        # One by one: what an interruption leaves in the queue goes back to the prompt.
        while (text := self._services.inbox.queue.take_first()) is not None:
            try:
                await self._say(text)
            except MessageRefusedError as error:
                self._context.bus.notify(NoticeLevel.WARNING, str(error))
            else:
                was_steered = True
        return was_steered

    async def _must_go_on(self) -> bool:
        """Check what the model did; return True if the check failed or new messages were sent."""
        failure = await self._services.check()
        if failure is not None:
            # Not as typed: the output of a check must not mention files or call skills.
            message = UserMessage(uuid4().hex, failure.words, (failure.output,), is_typed=False)
            await finish_despite_cancel(self._store(message))
        return await self._say_queued() or failure is not None

    async def _ask_model(self) -> AssistantMessage:
        compactor = self._services.compactor
        await compactor.ensure_fits()
        tries = 0
        while True:
            try:
                return await self._paid_reply()
            except ModelError as error:
                if error.kind is not ModelErrorKind.OVERFLOW:
                    raise
                if not await compactor.after_overflow(tries, error.window):
                    raise
            tries += 1

    async def _paid_reply(self) -> AssistantMessage:
        context = self._context
        async with context.cap.call(context.meter, context.request, context.conversation.for_model):
            draft = await self._request()
            message = self._message_of(draft)
            # Not cut off: a reply that is stored is paid for.
            await finish_despite_cancel(self._keep(message, draft))
        self._warn_of_unknown_price(message)
        self._steps += 1
        return message

    def _message_of(self, draft: ReplyDraft) -> AssistantMessage:
        return draft.message(self._model, self._services.runner.registry.names)

    async def _keep(self, message: AssistantMessage, draft: ReplyDraft) -> None:
        await self._context.conversation.add(message)
        self._services.step.forget()
        self._finished(message, draft.whole_thinking, interrupted=False)
        await self._context.meter.add(message)

    async def _request(self) -> ReplyDraft:
        context = self._context
        request = context.request(context.conversation.for_model)
        self._model = request.model
        try:
            draft = await self._services.step.run(request, uuid4().hex, context.conversation.call_ids)
        except asyncio.CancelledError:
            await finish_despite_cancel(self._pay_stopped(request))
            raise
        if draft.finished is not None:
            context.meter.check_count(request, draft.finished.usage.input_tokens)
        return draft

    async def _pay_stopped(self, request: ModelRequest) -> None:
        """Count a stopped reply, which is still paid for; between two attempts there is none."""
        draft, meter = self._services.step.draft, self._context.meter
        if draft.message_id and (reply := meter.stopped(request, draft.said, draft.message_id)):
            await meter.add_detached(reply)

    def _warn_of_unknown_price(self, message: AssistantMessage) -> None:
        if self._steps == 0 and self._context.cap.limit is not None and message.usage.cost is None:
            text = f"limits.max_cost cannot be enforced: no price is known for {message.model}."
            self._context.bus.notify(NoticeLevel.WARNING, text)

    def _finished(self, message: AssistantMessage, thinking: str, *, interrupted: bool) -> None:
        self._context.bus.publish(MessageFinished(message.id, message.text, thinking, interrupted))

    async def _run_calls(self, reply: AssistantMessage) -> None:
        """Run the calls in the model's order; calls that only read run at the same time."""
        is_concurrent = self._services.runner.is_concurrent
        await run_in_order(reply.calls, is_concurrent, lambda call: self._run_call(call, reply))

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
class TurnRunner:
    services: TurnServices
    name: SessionName
    turns: Turns

    async def run(self, number: int, text: str) -> None:
        """Run a turn and publish how it ended. A bug in it must not end the user's session."""
        began, context = time.monotonic(), self.services.context
        context.meter.start_turn(number)
        context.cap.begin()
        context.bus.publish(TurnStarted(number))
        self.services.runner.begin_turn()
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
            context.bus.publish(TurnFinished(number, end.outcome, end.message, duration))
        finally:
            self.services.runner.end_turn()

    async def _run(self, turn: Turn, number: int, text: str) -> TurnEnd:
        limits = self.services.limits
        try:
            async with asyncio.timeout(limits.seconds):
                await self.turns.begin(self.services.context.session_id, number)
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
        self.services.context.bus.publish(TurnFailed(number, message, hint))
