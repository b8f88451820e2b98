"""Runs hooks: commands of the person or of a trusted project, told as JSON what is about to happen."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coder_tui.agent.hooks.protocol import HookEvent, HookReply, other_names, read_reply, said_to_others
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.sandbox.confinement import NOTHING_MORE, Confinement
from coder_tui.shell.session_shell import SessionShell
from coder_tui.text.name_pattern import name_pattern
from coder_tui.text.redact import Redactor
from coder_tui.text.safe_text import safe_line

MOST_BYTES = 1_000_000
_EVERY = ("", "*")
_SHOWN = 80
_MODES = {
    Mode.ASK: "default",
    Mode.EDITS: "acceptEdits",
    Mode.AUTO: "bypassPermissions",
    Mode.PLAN: "plan",
}


@dataclass(frozen=True, slots=True)
class Hook:
    """`source` is where it stands; `is_for_others`: it was written for a program that has other names."""

    event: HookEvent
    command: str
    matcher: str = ""
    timeout: float = 60.0
    source: str = ""
    is_confined: bool = True
    is_own: bool = True
    is_for_others: bool = False
    on_failure: Effect | None = None

    def speaks_of(self, subject: str) -> bool:
        if self.matcher in _EVERY or not subject:
            return True
        pattern = name_pattern(self.matcher)
        return any(pattern.covers(name) for name in (subject, *other_names(subject)))

    @property
    def when_it_fails(self) -> Effect | None:
        """None: everything goes on as if there were no hook."""
        if self.on_failure is None:
            return Effect.ASK if self.event is HookEvent.PRE_TOOL_USE else None
        # That it may go on is no word for it: whoever would be asked is asked.
        return None if self.on_failure is Effect.ALLOW else self.on_failure

    @property
    def shown(self) -> str:
        command = safe_line(self.command)
        return command if len(command) <= _SHOWN else f"{command[:_SHOWN]}…"


@dataclass(frozen=True, slots=True)
class HookReplies:
    """What the hooks for one moment said, together; the first that refuses ends it."""

    replies: tuple[tuple[Hook, HookReply], ...] = ()

    @property
    def refusal(self) -> tuple[Hook, str] | None:
        return next(((hook, reply.reason) for hook, reply in self.replies if reply.is_refusal), None)

    @property
    def context(self) -> str:
        return "\n".join(reply.context for _, reply in self.replies if reply.context)


@dataclass(slots=True)
class HookRunner:
    """Serves one session. `is_trusted` tells whether a project's own are still what the person trusted."""

    session_id: str
    directory: Path
    hooks: tuple[Hook, ...]
    shell: SessionShell
    redact: Redactor
    mode: Callable[[], Mode]
    is_trusted: Callable[[], bool]
    notify: Callable[[NoticeLevel, str], None]
    _warned: set[str] = field(default_factory=set)

    def has(self, event: HookEvent, subject: str = "") -> bool:
        return any(hook.event is event and hook.speaks_of(subject) for hook in self.hooks)

    async def run(
        self, event: HookEvent, fields: Mapping[str, Any], subject: str = "", *, limit: float | None = None
    ) -> HookReplies:
        """One by one, in their order; each sees what the one before it made of the input."""
        told, replies = dict(fields), list[tuple[Hook, HookReply]]()
        for hook in self.hooks:
            if hook.event is not event or not hook.speaks_of(subject):
                continue
            reply = await self._ask(hook, told, limit)
            if reply is None:
                continue
            replies.append((hook, reply))
            if reply.is_refusal:
                break
            if reply.updated is not None:
                told["tool_input"] = reply.updated
        return HookReplies(tuple(replies))

    async def _ask(self, hook: Hook, fields: Mapping[str, Any], limit: float | None) -> HookReply | None:
        """None where it failed and nothing hangs on it."""
        if not hook.is_own and not await asyncio.to_thread(self.is_trusted):
            return self._failed(hook, "was not run: the project's hooks changed since you trusted them")
        try:
            reply = await self._converse(hook, fields, min(hook.timeout, limit or hook.timeout))
        except OSError as error:
            return self._failed(hook, f"did not start: {error.strerror or error}")
        except ToolError as error:
            return self._failed(hook, f"was not run: {error.message}")
        if reply.problem:
            return self._failed(hook, reply.problem)
        if reply.message:
            self.notify(NoticeLevel.INFO, f"{hook.event} hook: {safe_line(reply.message)}")
        return reply

    def _failed(self, hook: Hook, problem: str) -> HookReply | None:
        """That is told once. What it was to watch over does not go on as if it had said yes."""
        self._warn(hook, problem)
        if (effect := hook.when_it_fails) is None:
            return None
        return HookReply(effect, f"the hook `{hook.shown}` has no word on this: it {problem}")

    async def _converse(self, hook: Hook, fields: Mapping[str, Any], limit: float) -> HookReply:
        told = {
            "session_id": self.session_id,
            "cwd": str(self.directory),
            "permission_mode": _MODES[self.mode()],
            "hook_event_name": str(hook.event),
            **(said_to_others(fields, self.directory) if hook.is_for_others else fields),
        }
        answer = await self.shell.converse(
            hook.command,
            self.redact.known(json.dumps(told, ensure_ascii=False, default=str)),
            await self._confinement(hook),
            time_limit=limit,
            limit=MOST_BYTES,
            variables=self._variables(),
            # What it says by its exit code counts, however much it has to say.
            stops_flood=False,
        )
        return read_reply(hook.event, answer)

    async def _confinement(self, hook: Hook) -> Confinement | None:
        """Of one's own hooks, what the command names is opened; a project's gets nothing by naming it."""
        if not hook.is_confined:
            return None
        if not hook.is_own:
            return NOTHING_MORE
        return await asyncio.to_thread(self.shell.confinement_of, hook.command)

    def _variables(self) -> dict[str, str]:
        folder = str(self.directory)
        return {"CODER_TUI_PROJECT_DIR": folder, "CLAUDE_PROJECT_DIR": folder}

    def _warn(self, hook: Hook, problem: str) -> None:
        key = f"{hook.event} {hook.command} {problem}"
        if key not in self._warned:
            self._warned.add(key)
            words = safe_line(f"The {hook.event} hook `{hook.shown}` ({hook.source}) {problem}")
            self.notify(NoticeLevel.WARNING, words)
