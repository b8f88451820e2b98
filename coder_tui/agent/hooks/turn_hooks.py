"""Hooks around a session and its turns: what a message brings along, whether a turn may end, and news."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from coder_tui.agent.hooks.protocol import HookEvent
from coder_tui.agent.hooks.runner import HookRunner
from coder_tui.agent.verify.verify import Check, Failure
from coder_tui.protocol.errors import MessageRefusedError
from coder_tui.protocol.events import Event, RequestOpened, TurnStarted
from coder_tui.protocol.messages import Attachment
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line

MOST_ROUNDS = 3
"""So often a hook may keep one turn from ending."""
FAREWELL = 5.0
"""Seconds: who leaves does not wait for a hook."""
STARTUP, RESUME = "startup", "resume"


@dataclass(slots=True)
class TurnHooks:
    """Serves one session; `start` runs something beside its turns."""

    runner: HookRunner
    start: Callable[[Coroutine[Any, Any, None]], None]
    _opening: asyncio.Task[str] | None = None
    _rounds: int = 0
    _told: bool = False

    def begin(self, *, is_resumed: bool) -> None:
        """What it prints goes to the model with the first message."""
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

    async def of(self, text: str) -> tuple[Attachment, ...]:
        """What hooks add to a message; `MessageRefusedError` where one keeps it back."""
        found: list[Attachment] = []
        if self._opening is not None and not self._told:
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
        self._told = True
        return tuple(found)

    def after(self, check: Check) -> Check:
        """The project's own check first; then a hook may have the model go on."""

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
        words = "A hook of the person's wants something more before you end; what it says is attached."
        return Failure(words, _attachment(HookEvent.STOP, reason))

    async def child_ends(self, agent: str) -> str:
        """Why a sub-agent should go on; empty where it may end. Asked once of each."""
        if not self.runner.has(HookEvent.SUBAGENT_STOP):
            return ""
        return await self._refusal(HookEvent.SUBAGENT_STOP, {"stop_hook_active": False, "agent": agent})

    async def compact(self, trigger: str, wish: str) -> str:
        """Why the conversation should stay as it is; empty where it may be compacted."""
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

    def hear(self, event: Event) -> None:
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
