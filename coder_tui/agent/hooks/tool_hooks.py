"""Hooks around a call: one may refuse it, change it or wish for a question; policy decides after them."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from coder_tui.agent.hooks.protocol import HookEvent, HookWish, in_our_words
from coder_tui.agent.hooks.runner import HookReplies, HookRunner
from coder_tui.agent.undo.review import name_of
from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.text.safe_text import safe_line
from coder_tui.tools.base import JsonObject, Params, Tool, ToolResult

HOOK = "hook"
"""Stands for the call where a hook is the one who changes files."""


@dataclass(frozen=True, slots=True)
class HookedCall:
    """`arguments` are to run instead, once they are checked and decided on."""

    arguments: JsonObject | None = None
    wish: HookWish | None = None
    context: str = ""


UNHOOKED = HookedCall()


class Watching(Protocol):
    def __call__(self, call_id: str, *, touches_git: bool) -> AbstractAsyncContextManager[list[Path]]:
        """Around a command; the list tells in the end what it changed."""


class CallHooks(Protocol):
    async def before(self, tool: Tool[Any], params: Params, agent: str) -> HookedCall:
        """`ToolError` where one refuses."""

    async def after(
        self, tool: str, given: JsonObject, hooked: HookedCall, result: ToolResult, agent: str
    ) -> ToolResult:
        """The result with what hooks have to say of it."""


class NoCallHooks:
    async def before(self, tool: Tool[Any], params: Params, agent: str) -> HookedCall:
        return UNHOOKED

    async def after(
        self, tool: str, given: JsonObject, hooked: HookedCall, result: ToolResult, agent: str
    ) -> ToolResult:
        return result


@dataclass(frozen=True, slots=True)
class SessionCallHooks:
    """`watching` keeps what hooks change, so that undo brings it back; `changed` tells of it."""

    runner: HookRunner
    watching: Watching
    changed: Callable[[tuple[str, ...]], None]

    async def before(self, tool: Tool[Any], params: Params, agent: str) -> HookedCall:
        event = HookEvent.PRE_TOOL_USE
        if not self.runner.has(event, tool.name):
            return UNHOOKED
        given = _given(params)
        fields = {"tool_name": tool.name, "tool_input": given, "agent": agent}
        said = await self.runner.run(event, fields, tool.name)
        if said.refusal is not None:
            hook, reason = said.refusal
            self._tell(NoticeLevel.WARNING, f"The hook `{hook.shown}` refused {tool.name}: {reason}")
            raise _refused(reason, hook.source)
        return HookedCall(self._changed(tool.name, given, said), _wish(said), said.context)

    def _changed(self, tool: str, given: JsonObject, said: HookReplies) -> JsonObject | None:
        updated = [(hook, reply.updated) for hook, reply in said.replies if reply.updated is not None]
        if not updated:
            return None
        hook, last = updated[-1]
        ours = in_our_words(last, given, self.runner.directory)
        if ours == given:
            return None
        self._tell(NoticeLevel.INFO, f"The hook `{hook.shown}` changed the arguments of {tool}.")
        return ours

    async def after(
        self, tool: str, given: JsonObject, hooked: HookedCall, result: ToolResult, agent: str
    ) -> ToolResult:
        notes = [hooked.context] if hooked.context else []
        if self.runner.has(HookEvent.POST_TOOL_USE, tool):
            notes += await self._heard(tool, given, result, agent)
        fields: JsonObject = {"changed_by_hook": given} if hooked.arguments is not None else {}
        if notes:
            fields["hook_says"] = "\n".join(notes)
        return replace(result, for_model={**result.for_model, **fields}) if fields else result

    async def _heard(self, tool: str, given: JsonObject, result: ToolResult, agent: str) -> list[str]:
        fields = {"tool_name": tool, "tool_input": given, "tool_response": result.for_model, "agent": agent}
        async with self.watching(HOOK, touches_git=False) as seen:
            said = await self.runner.run(HookEvent.POST_TOOL_USE, fields, tool)
        if seen:
            self.changed(tuple(name_of(path, self.runner.directory) for path in seen))
        if said.refusal is None:
            return [said.context] if said.context else []
        hook, reason = said.refusal
        self._tell(NoticeLevel.WARNING, f"The hook `{hook.shown}` complains of {tool}: {reason}")
        return [*([said.context] if said.context else []), reason]

    def _tell(self, level: NoticeLevel, text: str) -> None:
        self.runner.notify(level, safe_line(text))


def _given(params: Params) -> JsonObject:
    return params.model_dump(mode="json", exclude_unset=True)


def _wish(said: HookReplies) -> HookWish | None:
    """The strictest counts."""
    found = [
        HookWish(reply.effect, reply.reason or "a hook says so", f"hook of {hook.source}")
        for hook, reply in said.replies
        # Trust in a project's hooks says nothing of what may run without a question: a rule would say it.
        if reply.effect is not None and (hook.is_own or reply.effect is not Effect.ALLOW)
    ]
    return max(found, key=lambda wish: wish.effect.strictness, default=None)


def _refused(reason: str, source: str) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"a hook refused this call: {reason}",
        f"It stands in {source}. Take what it says into account; do not try to get around it.",
    )
