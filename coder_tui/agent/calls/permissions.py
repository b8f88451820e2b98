"""Decide whether a call may run: by policy, and by asking the user if the policy says so."""

import json
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Protocol
from uuid import uuid4

from coder_tui.agent.event_bus import RequestBroker
from coder_tui.agent.hooks.runner import HOOK_RULE, HookVerdict, apply_hook_verdict
from coder_tui.agent.profiles.profiles import Profile
from coder_tui.policy.decide import (
    FLOOR_SOURCE,
    Action,
    Policy,
    Verdict,
    decide,
    may_all_be_read,
    offered_grants,
    refusal_ahead,
)
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import DisplayBlock, TextBlock
from coder_tui.protocol.errors import REFUSED, ErrorType, ToolError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Editable, Grant, GrantScope
from coder_tui.tools.base import Access, Params, Tool

MOST_REMEMBERED = 200
"""Each of them is decided again for every scope that is offered."""


@dataclass(frozen=True, slots=True)
class ApprovalHistory:
    """The calls that the user was asked about since the session was opened."""

    _asked: deque[tuple[Action, str]] = field(default_factory=lambda: deque(maxlen=MOST_REMEMBERED))

    def remember(self, action: Action, summary: str) -> None:
        self._asked.append((action, summary))

    def covered(self, grant: Grant, policy: Policy) -> tuple[str, ...]:
        """Summarize the calls that the grant alone would have allowed, each once."""
        with_grant = replace(policy, grants=(*policy.grants, grant))
        passed = (
            summary
            for action, summary in self._asked
            if decide(action, with_grant).effect is Effect.ALLOW
            and decide(action, policy).effect is Effect.ASK
        )
        return tuple(dict.fromkeys(passed))


REPEAT_RULE = "repeated calls"
CHANGED_RULE = "changed since it was allowed"


@dataclass(frozen=True, slots=True)
class AskingAgent:
    """The sub-agent that a request names; empty for the main agent."""

    name: str = ""
    child_id: str = ""


MAIN_AGENT = AskingAgent()


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """A call to decide on. If it `is_users`, the user made it, and no agent needs to have the tool."""

    id: str
    tool: Tool[Any]
    params: Params
    access: Access | None = None
    asker: AskingAgent = MAIN_AGENT
    is_foreign: bool = False
    is_users: bool = False
    is_in_turn: bool = True

    @property
    def action(self) -> Action:
        tool = self.tool
        if self.access is None:
            return Action(tool.name, tool.permission, tool.kind, is_foreign=self.is_foreign)
        targets, command = self.access.targets, self.access.command
        return Action(tool.name, tool.permission, tool.kind, targets, command, self.is_foreign)


@dataclass(frozen=True, slots=True)
class Clearance:
    """An approval. `edited` runs instead, once it is approved as well; `refused` hunks are not written."""

    edited: str | None = None
    refused: tuple[str, ...] = ()
    was_asked: bool = True


Notify = Callable[[NoticeLevel, str], None]
Guard = Callable[[Access], Awaitable[None]]
"""Raises `ToolError` if a call must not touch files that another program, such as an editor, has open."""


async def unguarded(access: Access) -> None:
    """Allow every call: no other program has files open."""


class DecisionLog(Protocol):
    """Stores every verdict with its rule."""

    async def decided(self, call_id: str, tool: str, verdict: Verdict, answer: str) -> None: ...


class GrantStore(Protocol):
    """Saves what the user allowed beyond this session; returns where, or raises `UserError`."""

    async def save(self, grant: Grant) -> str: ...


class Permissions:
    """What may change during a session: the mode, the profile that leads and the user's grants."""

    def __init__(
        self,
        policy: Policy,
        broker: RequestBroker,
        log: DecisionLog,
        grants: GrantStore,
        notify: Notify,
    ) -> None:
        self._policy = policy
        self._broker = broker
        self._log = log
        self._grants = grants
        self._notify = notify
        self._before = ApprovalHistory()
        self._profile: Profile | None = None
        self._limits: Profile | None = None
        self._parent: Permissions | None = None
        self.guard: Guard = unguarded

    def child(self, profile: Profile) -> "Permissions":
        """Return a sub-agent's permissions: these, as they are at each moment, and its profile's rules."""
        permissions = Permissions(self._policy, self._broker, self._log, self._grants, self._notify)
        permissions._parent, permissions._profile, permissions._before = self, profile, self._before
        permissions.guard = lambda access: self.guard(access)
        return permissions

    @property
    def policy(self) -> Policy:
        base = self._policy if self._parent is None else self._parent.policy
        layers = (each.layer for each in (self._profile, self._limits) if each is not None and each.rules)
        return replace(base, layers=(*base.layers, *layers))

    @property
    def mode(self) -> Mode:
        return self.policy.mode

    def set_mode(self, mode: Mode) -> None:
        self._policy = replace(self._policy, mode=mode)

    def set_profile(self, profile: Profile) -> None:
        self._profile = profile

    def restrict(self, limits: Profile | None) -> None:
        """Limit every call by these tools and rules in addition to the profile's; None removes them."""
        self._limits = limits

    def allow_reading(self, folder: Path) -> None:
        """Allow reading in this resolved folder without a question, also outside the workspace."""
        if self._parent is not None:
            self._parent.allow_reading(folder)
            return
        inside = self._policy.boundaries
        readable = tuple(dict.fromkeys((*inside.readable, str(folder))))
        self._policy = replace(self._policy, boundaries=replace(inside, readable=readable))

    def verdict(self, action: Action) -> Verdict:
        return decide(action, self.policy)

    def _verdict_on(self, call: ProposedCall) -> Verdict:
        """As `verdict`; a tool that the agent does not have is denied as well."""
        missing = None if call.is_users else self._tool_missing(call.action)
        return missing or self.verdict(call.action)

    def _tool_missing(self, action: Action) -> Verdict | None:
        if (profile := self._without(action)) is None:
            return None
        reason = f"the agent {profile.name} does not have the tool {action.tool}"
        return Verdict(Effect.DENY, f"{action.tool} = off", f"agent {profile.name}", (reason,))

    def _without(self, action: Action) -> Profile | None:
        """Return the first profile that applies to the call and does not have its tool."""
        if self._parent is not None and (profile := self._parent._without(action)) is not None:
            return profile
        both = (each for each in (self._profile, self._limits) if each is not None)
        return next((each for each in both if not each.offers(action.tool, action.kind)), None)

    async def refuse_ahead(self, call: ProposedCall) -> None:
        """Raise if the call is denied whatever it touches, before anything is prepared for it."""
        verdict = self._tool_missing(call.action) or refusal_ahead(call.action, self.policy)
        if verdict is not None:
            await self._log.decided(call.id, call.tool.name, verdict, "")
            raise _denied(verdict)

    def report_failure(self, call: ProposedCall) -> None:
        """Raise why an edit cannot be made, unless it is denied or quotes what may not be read unasked."""
        access = call.access
        if access is None or access.failure is None or not may_all_be_read(access.targets, self.policy):
            return
        if self._verdict_on(call).effect is not Effect.DENY:
            raise access.failure

    async def approve(
        self,
        call: ProposedCall,
        *,
        is_repeat: bool = False,
        hook_verdict: HookVerdict | None = None,
        while_asking: AbstractContextManager[None] | None = None,
    ) -> Clearance:
        """Return when the call may run; raise `ToolError` when it may not."""
        verdict = apply_hook_verdict(self._verdict_on(call), hook_verdict)
        if is_repeat and verdict.effect is Effect.ALLOW:
            verdict = Verdict(
                Effect.ASK, REPEAT_RULE, "limits.repeated_calls", ("the same call again and again",)
            )
        if call.access is not None and call.access.asks_again and verdict.effect is Effect.ALLOW:
            verdict = Verdict(Effect.ASK, CHANGED_RULE, FLOOR_SOURCE, (call.access.asks_again,))
        if verdict.effect is Effect.ASK:
            with while_asking or nullcontext():
                request, reply = await self._ask(call, verdict)
            await self._log.decided(call.id, call.tool.name, verdict, reply.decision)
            clearance = await self._apply(request, reply)
            # While the user read, the mode or the agent may have become another.
            self.check_still(call)
            return clearance
        await self._log.decided(call.id, call.tool.name, verdict, "")
        if verdict.effect is Effect.DENY:
            raise _denied(verdict)
        return Clearance(was_asked=False)

    async def _ask(self, call: ProposedCall, verdict: Verdict) -> tuple[ApprovalRequest, ApprovalReply]:
        is_lasting = verdict.rule not in (REPEAT_RULE, HOOK_RULE)
        grants = offered_grants(call.action, self.policy) if is_lasting else ()
        covered = tuple(self._before.covered(grant, self.policy) for grant in grants)
        request = _request(call, verdict, grants, covered)
        self._before.remember(call.action, request.summary)
        return request, await self._broker.ask(request)

    async def approve_edited(self, call: ProposedCall, answer: str = Decision.MODIFY) -> None:
        """Let what the user wrote run without another question; what is denied stays denied."""
        verdict = self._verdict_on(call)
        await self._log.decided(call.id, call.tool.name, verdict, answer)
        if verdict.effect is Effect.DENY:
            raise _denied(verdict)

    def check_still(self, call: ProposedCall) -> None:
        """Raise if the call is denied by now: the mode or the agent may have become another."""
        if (now := self._verdict_on(call)).effect is Effect.DENY:
            raise _denied(now)

    async def _apply(self, request: ApprovalRequest, reply: ApprovalReply) -> Clearance:
        match reply.decision:
            case Decision.ALLOW_ONCE:
                return _allowed(request, reply)
            case Decision.ALLOW_ALWAYS:
                if reply.grant in request.grants and reply.grant is not None:
                    await self._grant(reply.grant)
                return _allowed(request, reply)
            case Decision.MODIFY:
                return Clearance(reply.edited)
            case Decision.DENY | Decision.CANCEL_TURN:
                raise _refused(reply)
            case Decision.NOBODY_THERE:
                raise _unattended(request)

    async def _grant(self, grant: Grant) -> None:
        if self._parent is not None:
            await self._parent._grant(grant)
            return
        self._policy = replace(self._policy, grants=(*self._policy.grants, grant))
        if grant.scope is GrantScope.SESSION:
            return
        try:
            place = await self._grants.save(grant)
        except UserError as error:
            self._notify(NoticeLevel.WARNING, f"Allowed for this session only, not saved: {error}")
        else:
            self._notify(NoticeLevel.INFO, f"Saved to {place}: {grant.label}")


def _allowed(request: ApprovalRequest, reply: ApprovalReply) -> Clearance:
    """Refuse a call if all of its hunks are refused, or if it cannot leave any out."""
    refused = tuple(dict.fromkeys(reply.refused))
    if refused and len(refused) >= len(request.hunk_ids):
        raise _refused(reply)
    return Clearance(refused=refused)


def _request(
    call: ProposedCall, verdict: Verdict, grants: tuple[Grant, ...], covered: tuple[tuple[str, ...], ...]
) -> ApprovalRequest:
    tool, params, access = call.tool, call.params, call.access
    return ApprovalRequest(
        id=uuid4().hex,
        call_id=call.id,
        tool=tool.name,
        kind=tool.kind,
        title=_title(tool, params, access),
        preview=_preview(params, access),
        facts=tuple(dict.fromkeys(verdict.reasons + (access.facts if access else ()))),
        grants=grants,
        is_undoable=bool(access and access.is_undoable),
        rule=f"{verdict.rule} ({verdict.source})",
        summary=tool.summary(params),
        findings=access.command.findings if access and access.command else (),
        sandbox=access.sandbox if access else "",
        editable=_editable(tool, params),
        agent=call.asker.name,
        child_id=call.asker.child_id,
        files=access.files if access else (),
        covered=covered,
        is_in_turn=call.is_in_turn,
    )


def _editable(tool: Tool[Any], params: Params) -> Editable | None:
    if not tool.editable:
        return None
    path = getattr(params, "path", "")
    suffix = ".sh" if tool.editable == "command" else PurePath(path).suffix or ".txt"
    return Editable(tool.editable, str(getattr(params, tool.editable)), suffix)


def _title(tool: Tool[Any], params: Params, access: Access | None) -> str:
    if access is not None and access.command is not None:
        return "Run this command?"
    return f"Allow {tool.name}?  {tool.summary(params)}"


def _preview(params: Params, access: Access | None) -> DisplayBlock:
    if access and access.preview:
        return access.preview
    return TextBlock(json.dumps(params.model_dump(mode="json"), indent=2, ensure_ascii=False))


def _denied(verdict: Verdict) -> ToolError:
    reasons = "; ".join(verdict.reasons)
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"permission denied: {reasons}",
        f"Rule: {verdict.rule}, from {verdict.source}. Do not try to get around it.",
    )


def _unattended(request: ApprovalRequest) -> ToolError:
    reasons = "; ".join(request.facts)
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"permission denied: this call needs approval and nobody is there to give it ({reasons})",
        f"Rule: {request.rule}. Do what can be done without it, and say what was left undone.",
    )


def _refused(reply: ApprovalReply) -> ToolError:
    words = f": {reply.message}" if reply.message else ""
    return ToolError(
        ErrorType.DENIED_BY_USER,
        f"{REFUSED}{words}",
        "Nothing was done. Take the refusal into account before you go on.",
    )
