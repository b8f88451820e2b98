"""The only path to `Tool.run`: parse → access → decide → ask → record → snapshot → run → guard → record.

What a call may change, as far as its declaration tells.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from coder_tui.agent.calls.log import CallLog
from coder_tui.agent.calls.permissions import MAIN_AGENT, AskingAgent, Permissions, ProposedCall
from coder_tui.agent.calls.results import failure, half_written, outcome_of, with_user_changes, writes_mask
from coder_tui.agent.context.instructions import Nearby, nothing_nearby
from coder_tui.agent.diagnostics.session import EditDiagnostics
from coder_tui.agent.event_bus import EventBus
from coder_tui.agent.hooks.session_hooks import UNHOOKED, CallHooks, HookedCall
from coder_tui.policy.paths import is_git_internal
from coder_tui.protocol.access import TargetKind, ToolKind
from coder_tui.protocol.display import DisplayBlock, TextBlock
from coder_tui.protocol.errors import STOPPED, ErrorType, ToolError, UserError
from coder_tui.protocol.events import FilesChanged, ToolFinished, ToolProgressed, ToolStarted
from coder_tui.protocol.messages import ToolCall, ToolMessage
from coder_tui.protocol.outcomes import Outcome
from coder_tui.storage.records import FinishedCall
from coder_tui.tasks import finish_despite_cancel
from coder_tui.text.redact import BY_SHAPE, MASK, KnownStream, Redactor, map_texts
from coder_tui.tools.arguments import canonical_call, parse_call, with_edited_text
from coder_tui.tools.base import Access, Audience, JsonObject, Params, Tool, ToolContext, ToolResult
from coder_tui.tools.editing.change import IMPOSSIBLE_FINGERPRINT
from coder_tui.tools.registry import Registry
from coder_tui.tools.truncate import OutputGuard
from coder_tui.workspace.files.confine import relative_name


def may_change_anything(kind: ToolKind, access: Access | None) -> bool:
    """A command, unless it was proven to only look; so is a tool of others that is one."""
    is_command = kind is ToolKind.EXECUTE or bool(access and access.sandbox)
    return is_command and not (access and access.command and access.command.is_read_only)


def touches_git(access: Access | None) -> bool:
    """Return whether the command may change git's own files."""
    if access is None or access.command is None:
        return True
    named = (*(target.value for target in access.targets), *(each.target for each in access.command.findings))
    return any(is_git_internal(value) for value in named)


def without_fingerprint(kind: ToolKind, access: Access | None) -> Access | None:
    """Drop the fingerprint of an unreviewed edit: another agent may have changed the file elsewhere."""
    if access is None or kind is not ToolKind.EDIT or access.fingerprint == IMPOSSIBLE_FINGERPRINT:
        return access
    return replace(access, fingerprint="")


def changed_paths(kind: ToolKind, access: Access | None) -> tuple[Path, ...]:
    """Return the files that a call declares to change; those of a command are not known before."""
    if access is None or kind not in {ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE}:
        return ()
    written = (target for target in access.targets if target.kind is TargetKind.PATH and target.writes)
    return tuple(Path(target.value) for target in written)


log = logging.getLogger(__name__)
INVALID = "invalid"
_WRITERS = frozenset({ToolKind.EDIT, ToolKind.EXECUTE})


def sees_no_images() -> bool:
    """Return False, for a caller whose model is not known."""
    return False


@dataclass(frozen=True, slots=True)
class Scope:
    """The calling agent and its folder. `sees_images` is called for each call, as the model can change."""

    session_id: str
    directory: Path
    diagnostics: EditDiagnostics
    agent: str = "build"
    audience: Audience = Audience.MAIN
    sees_images: Callable[[], bool] = sees_no_images
    nearby: Nearby = nothing_nearby
    """Returns instructions for these files that are new to the conversation."""
    hooks: CallHooks | None = None

    @property
    def asker(self) -> AskingAgent:
        return AskingAgent(self.agent, self.session_id) if self.audience is Audience.SUB else MAIN_AGENT


@dataclass(slots=True)
class Masks:
    """Whether a secret was masked for the model, which must then not write the mask in its place."""

    has_any: bool = False


@dataclass(slots=True)
class _Attempt:
    """What is known of a call so far, to report it if it is stopped."""

    call: ToolCall
    message_id: str
    began: float
    edits_follow: bool = False
    tool: str = INVALID
    kind: ToolKind = ToolKind.THINK
    summary: str = ""
    is_recorded: bool = False
    is_finished: bool = False
    hooked: HookedCall = UNHOOKED
    given: JsonObject = field(default_factory=dict)
    end: tuple[ToolResult, Outcome] | None = None
    """How the call itself ended; the report of language servers may still be missing."""

    @property
    def shown_tool(self) -> str:
        return self.tool if self.tool != INVALID else self.call.name or INVALID

    @property
    def duration_ms(self) -> int:
        return round((time.monotonic() - self.began) * 1000)


class ToolRunner:
    def __init__(
        self,
        registry: Registry,
        permissions: Permissions,
        calls: CallLog,
        bus: EventBus,
        guard: OutputGuard,
        scope: Scope,
        redact: Redactor = BY_SHAPE,
        masks: Masks | None = None,
        *,
        is_inner: bool = False,
    ) -> None:
        """`is_inner`: for calls inside a call, whose results go to the model with the outer one."""
        self.registry = registry
        self._permissions = permissions
        self.calls = calls
        self._bus = bus
        self._guard = guard
        self._scope = scope
        self.redact = redact
        self.masks = masks or Masks()
        self._is_inner = is_inner

    def within(self, bus: EventBus) -> "ToolRunner":
        """Return the same runner for calls that are made inside a call."""
        return ToolRunner(
            *(self.registry, self._permissions, self.calls, bus, self._guard, self._scope, self.redact),
            masks=self.masks,
            is_inner=True,
        )

    def begin_turn(self) -> None:
        self._scope.diagnostics.session.begin_turn()

    def end_turn(self) -> None:
        """Let language servers know of edits that nobody waits for any more."""
        self._scope.diagnostics.session.end_turn()

    def report_changes(self, names: tuple[str, ...]) -> None:
        """Report changes that are not the model's edits to front ends and language servers."""
        self._bus.publish(FilesChanged(names))
        self._scope.diagnostics.session.files_changed(names)

    def tool_of(self, name: str) -> Tool[Any]:
        """Find a tool by name; raise `ToolError` if this agent has none of this name."""
        return self.registry.get(name, self._scope.audience)

    def is_concurrent(self, call: ToolCall) -> bool:
        """Return whether the call only reads, so that it may run at the same time as others."""
        try:
            name, _ = canonical_call(call.name, call.arguments)
            kind = self.tool_of(name).kind
        except ToolError:
            return True
        return kind in {ToolKind.READ, ToolKind.SEARCH}

    def is_edit(self, call: ToolCall) -> bool:
        try:
            return self.tool_of(canonical_call(call.name, call.arguments)[0]).kind is ToolKind.EDIT
        except ToolError:
            return False

    async def execute(
        self,
        call: ToolCall,
        message_id: str,
        *,
        is_repeat: bool = False,
        is_cut: bool = False,
        edits_follow: bool = False,
    ) -> ToolMessage:
        """Run one call to its result, whatever happens; only cancellation gets through."""
        attempt = _Attempt(call, message_id, time.monotonic(), edits_follow)
        try:
            result, outcome = attempt.end = await self._attempt(attempt, is_repeat=is_repeat, is_cut=is_cut)
            result = await self._with_problems(attempt, result)
            hooks = self._scope.hooks
            if hooks and attempt.is_recorded and outcome in (Outcome.OK, Outcome.FAILED):
                ran = (attempt.tool, attempt.given, attempt.hooked)
                result = await hooks.after(*ran, result, self._scope.agent)
            return await finish_despite_cancel(self._finish(attempt, result, outcome))
        except asyncio.CancelledError:
            # The conversation stays valid only if this call, too, has a result.
            if not attempt.is_finished:
                await self._finish(attempt, *(attempt.end or _cancelled(attempt)))
            raise
        except UserError as error:
            # The store refused: the turn ends, and front ends must not show this call as running.
            self._announce(attempt, Outcome.FAILED, TextBlock(str(error)))
            raise

    async def _attempt(
        self, attempt: _Attempt, *, is_repeat: bool, is_cut: bool
    ) -> tuple[ToolResult, Outcome]:
        try:
            if is_cut:
                raise half_written()
            result = await self._decide_and_run(attempt, is_repeat=is_repeat)
        except ToolError as error:
            return failure(error), outcome_of(error)
        except UserError:
            raise
        except Exception as error:
            # A bug in a tool must not end the user's session: it is logged, and the result reports it.
            log.exception("tool %s failed", attempt.tool)
            bug = ToolError(ErrorType.INTERNAL, f"{attempt.tool} failed unexpectedly: {error!r}")
            return failure(bug), Outcome.FAILED
        return result, Outcome.OK if result.is_ok else Outcome.FAILED

    async def _decide_and_run(self, attempt: _Attempt, *, is_repeat: bool) -> ToolResult:
        tool, params = self._understand(attempt)
        context = self._context(attempt)
        self._bus.publish(ToolStarted(attempt.call.id, tool.name, tool.kind, attempt.summary))
        # Before anything that can fail or cost: hooks, and what a tool looks at to declare its access.
        await self._permissions.refuse_ahead(self._proposed(attempt.call.id, tool, params))
        if self._scope.hooks:
            attempt.hooked = await self._scope.hooks.before(tool, params, self._scope.agent)
        if attempt.hooked.arguments is not None:
            tool, params = self._understand(attempt, json.dumps(attempt.hooked.arguments))
        access = await tool.access(params, context)
        call, diagnostics = self._proposed(attempt.call.id, tool, params, access), self._scope.diagnostics
        self._permissions.report_failure(call)
        clearance = await self._permissions.approve(
            call,
            is_repeat=is_repeat,
            hook_verdict=attempt.hooked.verdict,
            while_asking=diagnostics.checking(call.id, access),
        )
        if clearance.edited is not None:
            params = with_edited_text(tool, params, clearance.edited)
            attempt.summary = tool.summary(params)
            access = await tool.access(params, context)
            await self._permissions.approve_edited(self._proposed(call.id, tool, params, access))
        attempt.given = params.model_dump(mode="json", exclude_unset=True)
        await finish_despite_cancel(self._record(attempt))
        attempt.began = time.monotonic()  # without the time that the user took to answer
        shown = access if clearance.was_asked else without_fingerprint(tool.kind, access)
        approved = replace(context, access=shown, refused_hunks=clearance.refused)
        if may_change_anything(tool.kind, access):
            result = await self._watched(attempt.call.id, tool, params, approved)
        else:
            ahead = diagnostics.writing(access, more_follow=attempt.edits_follow)
            async with ahead, self.calls.keeping(attempt.call.id, changed_paths(tool.kind, access)):
                result = await self._run(tool, params, approved)
        attempt.summary = result.summary or attempt.summary
        if result.changed_paths:
            self._bus.publish(FilesChanged(result.changed_paths))
            diagnostics.written(access, result)
        result = await self._with_nearby(result, access)
        return with_user_changes(result, tool, access, clearance)

    def _proposed(
        self, call_id: str, tool: Tool[Any], params: Params, access: Access | None = None
    ) -> ProposedCall:
        is_foreign = self.registry.is_foreign(tool.name)
        return ProposedCall(call_id, tool, params, access, self._scope.asker, is_foreign)

    async def _with_problems(self, attempt: _Attempt, result: ToolResult) -> ToolResult:
        try:
            checked = await self._scope.diagnostics.attach_to(result, more_follow=attempt.edits_follow)
        except Exception:
            # As with a bug in a tool; the edit is done and keeps its result.
            log.exception("problems of %s", attempt.tool)
            return result
        attempt.summary = checked.summary or attempt.summary
        return checked

    async def _with_nearby(self, result: ToolResult, access: Access | None) -> ToolResult:
        """Add the instructions of a folder to the first call that touches a file in it."""
        targets = access.targets if access else ()
        paths = tuple(target.value for target in targets if target.kind is TargetKind.PATH)
        if not paths or not (instructions := await self._scope.nearby(paths)):
            return result
        return result.with_fields({"instructions": instructions})

    async def _run(self, tool: Tool[Any], params: Params, context: ToolContext) -> ToolResult:
        # Copies take their time: if the user entered plan mode during that, it applies to this call, too.
        self._permissions.check_still(self._proposed(context.call_id, tool, params, context.access))
        if context.access is not None:
            await self._permissions.guard(context.access)
        return await tool.run(params, context)

    async def _watched(
        self, call_id: str, tool: Tool[Any], params: Params, context: ToolContext
    ) -> ToolResult:
        seen: list[Path] = []
        try:
            async with self.calls.watching(call_id, touches_git=touches_git(context.access)) as seen:
                return await self._run(tool, params, context)
        finally:
            if seen:
                self.report_changes(tuple(relative_name(path, self._scope.directory) for path in seen))

    def _understand(self, attempt: _Attempt, instead: str = "") -> tuple[Tool[Any], Params]:
        name, arguments = canonical_call(attempt.call.name, instead or attempt.call.arguments)
        tool = self.tool_of(name)
        attempt.kind = tool.kind
        if self.masks.has_any and tool.kind in _WRITERS and MASK in arguments:
            raise writes_mask()
        tool, params = parse_call(tool, arguments)
        attempt.tool, attempt.summary = tool.name, tool.summary(params)
        return tool, params

    def _context(self, attempt: _Attempt) -> ToolContext:
        call_id, live = attempt.call.id, KnownStream(self.redact)
        return ToolContext(
            session_id=self._scope.session_id,
            call_id=call_id,
            message_id=attempt.message_id,
            directory=self._scope.directory,
            agent=self._scope.agent,
            sees_images=self._scope.sees_images(),
            progress=lambda text: self._bus.publish(ToolProgressed(call_id, live.feed(text))),
        )

    async def _record(self, attempt: _Attempt) -> None:
        await self.calls.started(
            attempt.call, attempt.message_id, attempt.tool, attempt.kind, attempt.summary
        )
        attempt.is_recorded = True

    async def _finish(self, attempt: _Attempt, result: ToolResult, outcome: Outcome) -> ToolMessage:
        if not attempt.is_recorded:
            await self._record(attempt)
        name = f"{self._scope.session_id}-{attempt.call.id}"
        whole = await asyncio.to_thread(self._guard.guard, result.for_model, name)
        content = self.redact.known(whole)
        self.masks.has_any |= content != whole
        shown = map_texts(result.for_user, self.redact.known)
        message = ToolMessage(uuid4().hex, attempt.call.id, attempt.tool, content, result.attachments)
        summary, duration = attempt.summary, attempt.duration_ms
        finished = FinishedCall(
            attempt.call.id, attempt.shown_tool, outcome, summary, shown, duration, message
        )
        await self.calls.finished(finished, is_inner=self._is_inner)
        attempt.is_finished = True
        self._announce(attempt, outcome, shown)
        return message

    def _announce(self, attempt: _Attempt, outcome: Outcome, display: DisplayBlock) -> None:
        self._bus.publish(
            ToolFinished(
                attempt.call.id, attempt.shown_tool, outcome, attempt.summary, display, attempt.duration_ms
            )
        )


def _cancelled(attempt: _Attempt) -> tuple[ToolResult, Outcome]:
    ran = "it may have done part of its work" if attempt.is_recorded else "it did not run"
    error = ToolError(ErrorType.CANCELLED, f"{STOPPED}; {ran}")
    return failure(error), Outcome.CANCELLED
