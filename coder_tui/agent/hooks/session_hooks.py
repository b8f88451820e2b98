"""Hooks around calls, turns and sessions.

Around a call, one may refuse it, change it or wish for a question; policy decides after them. Around a turn,
one may add to messages, keep it from ending, or send notifications.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from coder_tui.agent.calls.log import CallLog
from coder_tui.agent.hooks.runner import HookEvent, HookReplies, HookRunner, HookVerdict, from_foreign_format
from coder_tui.agent.verify import Check, Failure
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, MessageRefusedError, ToolError
from coder_tui.protocol.events import Event, RequestOpened, TurnStarted
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.base import JsonObject, Params, Tool, ToolResult
from coder_tui.workspace.files.confine import relative_name

HOOK = "hook"
"""Stands for the call where a hook is the one who changes files."""


@dataclass(frozen=True, slots=True)
class HookedCall:
    """`arguments` are to run instead, once they are checked and decided on."""

    arguments: JsonObject | None = None
    verdict: HookVerdict | None = None
    context: str = ""


UNHOOKED = HookedCall()


@dataclass(frozen=True, slots=True)
class CallHooks:
    """`calls` records what hooks change, so that undo restores it; `changed` reports it."""

    runner: HookRunner
    calls: CallLog
    changed: Callable[[tuple[str, ...]], None]

    async def before(self, tool: Tool[Any], params: Params, agent: str) -> HookedCall:
        """Raise `ToolError` if a hook refuses."""
        event = HookEvent.PRE_TOOL_USE
        if not self.runner.has(event, tool.name):
            return UNHOOKED
        given: JsonObject = params.model_dump(mode="json", exclude_unset=True)
        fields = {"tool_name": tool.name, "tool_input": given, "agent": agent}
        said = await self.runner.run(event, fields, tool.name)
        if said.refusal is not None:
            hook, reason = said.refusal
            self._tell(NoticeLevel.WARNING, f"The hook `{hook.shown}` refused {tool.name}: {reason}")
            raise _refused(reason, hook.source)
        return HookedCall(self._changed(tool.name, given, said), _verdict(said), said.context)

    def _changed(self, tool: str, given: JsonObject, said: HookReplies) -> JsonObject | None:
        updated = [(hook, reply.updated) for hook, reply in said.replies if reply.updated is not None]
        if not updated:
            return None
        hook, last = updated[-1]
        ours = from_foreign_format(last, given, self.runner.directory)
        if ours == given:
            return None
        self._tell(NoticeLevel.INFO, f"The hook `{hook.shown}` changed the arguments of {tool}.")
        return ours

    async def after(
        self, tool: str, given: JsonObject, hooked: HookedCall, result: ToolResult, agent: str
    ) -> ToolResult:
        """Return the result with what hooks add to it."""
        notes = [hooked.context] if hooked.context else []
        if self.runner.has(HookEvent.POST_TOOL_USE, tool):
            notes += await self._heard(tool, given, result, agent)
        fields: JsonObject = {"changed_by_hook": given} if hooked.arguments is not None else {}
        if notes:
            fields["hook_says"] = "\n".join(notes)
        return result.with_fields(fields)

    async def _heard(self, tool: str, given: JsonObject, result: ToolResult, agent: str) -> list[str]:
        fields = {"tool_name": tool, "tool_input": given, "tool_response": result.for_model, "agent": agent}
        async with self.calls.watching(HOOK, touches_git=False) as seen:
            said = await self.runner.run(HookEvent.POST_TOOL_USE, fields, tool)
        if seen:
            self.changed(tuple(relative_name(path, self.runner.directory) for path in seen))
        if said.refusal is None:
            return [said.context] if said.context else []
        hook, reason = said.refusal
        self._tell(NoticeLevel.WARNING, f"The hook `{hook.shown}` complains of {tool}: {reason}")
        return [*([said.context] if said.context else []), reason]

    def _tell(self, level: NoticeLevel, text: str) -> None:
        self.runner.notify(level, safe_line(text))


def _verdict(said: HookReplies) -> HookVerdict | None:
    """The strictest counts."""
    found = [
        HookVerdict(reply.effect, reply.reason or "a hook says so", f"hook of {hook.source}")
        for hook, reply in said.replies
        # Trust in a project's hooks says nothing of what may run without a question: a rule would say it.
        if reply.effect is not None and (hook.is_own or reply.effect is not Effect.ALLOW)
    ]
    return max(found, key=lambda each: each.effect.strictness, default=None)


def _refused(reason: str, source: str) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"a hook refused this call: {reason}",
        f"It stands in {source}. Take what it says into account; do not try to get around it.",
    )


MOST_ROUNDS = 3
"""How often a hook may keep one turn from ending."""
FAREWELL = 5.0
"""Seconds: a user who quits does not wait longer for a hook."""
STARTUP, RESUME = "startup", "resume"


@dataclass(slots=True)
class TurnHooks:
    """The hooks of one session; `start` runs something in the background."""

    runner: HookRunner
    start: Callable[[Coroutine[Any, Any, None]], object]
    _opening: asyncio.Task[str] | None = None
    _rounds: int = 0
    _is_opening_sent: bool = False

    def begin(self, *, is_resumed: bool) -> None:
        """Start the hook for new sessions; its output goes to the model with the first message."""
        if self.runner.has(HookEvent.SESSION_START):
            source = RESUME if is_resumed else STARTUP
            self._opening = asyncio.create_task(self._open(source))

    async def _open(self, source: str) -> str:
        said = await self.runner.run(HookEvent.SESSION_START, {"source": source}, source)
        return said.context

    async def end(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        if self.runner.has(HookEvent.SESSION_END):
            await self.runner.run(HookEvent.SESSION_END, {"reason": "exit"}, limit=FAREWELL)

    async def attach(self, text: str) -> tuple[Attachment, ...]:
        """Return what hooks add to a message; raise `MessageRefusedError` if one refuses it."""
        found: list[Attachment] = []
        if self._opening is not None and not self._is_opening_sent:
            await asyncio.wait({self._opening})
            if not self._opening.cancelled() and (words := self._opening.result()):
                found.append(_attachment(HookEvent.SESSION_START, words))
        if self.runner.has(HookEvent.USER_PROMPT_SUBMIT):
            said = await self.runner.run(HookEvent.USER_PROMPT_SUBMIT, {"prompt": text})
            if said.refusal is not None:
                hook, reason = said.refusal
                raise MessageRefusedError(safe_line(f"The hook `{hook.shown}` kept this message: {reason}"))
            if said.context:
                found.append(_attachment(HookEvent.USER_PROMPT_SUBMIT, said.context))
        self._is_opening_sent = True
        return tuple(found)

    def after(self, check: Check) -> Check:
        """Run the project's own check first; then a hook may make the model go on."""

        async def checked() -> Failure | None:
            return await check() or await self._stop()

        return checked

    async def _stop(self) -> Failure | None:
        if not self.runner.has(HookEvent.STOP):
            return None
        reason = await self._refusal(HookEvent.STOP, {"stop_hook_active": self._rounds > 0})
        if not reason:
            return None
        self._rounds += 1
        if self._rounds > MOST_ROUNDS:
            words = f"A hook kept the turn from ending {MOST_ROUNDS} times; it ends now."
            self.runner.notify(NoticeLevel.WARNING, words)
            return None
        words = "One of the user's hooks wants something more before you end; its message is attached."
        return Failure(words, _attachment(HookEvent.STOP, reason))

    async def on_subagent_end(self, agent: str) -> str:
        """Return why a sub-agent should go on; empty if it may end. Called once for each."""
        if not self.runner.has(HookEvent.SUBAGENT_STOP):
            return ""
        return await self._refusal(HookEvent.SUBAGENT_STOP, {"stop_hook_active": False, "agent": agent})

    async def compact(self, trigger: str, wish: str) -> str:
        """Return why the conversation should stay as it is; empty if it may be compacted."""
        if not self.runner.has(HookEvent.PRE_COMPACT):
            return ""
        fields = {"trigger": trigger, "custom_instructions": wish}
        return await self._refusal(HookEvent.PRE_COMPACT, fields, trigger)

    async def _refusal(self, event: HookEvent, fields: dict[str, Any], subject: str = "") -> str:
        said = await self.runner.run(event, fields, subject)
        if said.refusal is None:
            return ""
        hook, reason = said.refusal
        self.runner.notify(NoticeLevel.WARNING, safe_line(f"The {event} hook `{hook.shown}` says: {reason}"))
        return reason

    def on_event(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._rounds = 0
            case RequestOpened(request) if self.runner.has(HookEvent.NOTIFICATION):
                fields = {
                    "message": f"coder-tui waits for you: {request.title}",
                    "notification_type": "permission_prompt",
                }
                self.start(self._notify(fields))
            case _:
                pass

    async def _notify(self, fields: dict[str, Any]) -> None:
        await self.runner.run(HookEvent.NOTIFICATION, fields, fields["notification_type"])


def _attachment(event: HookEvent, text: str) -> Attachment:
    return Attachment(f"hook {event}", text)
