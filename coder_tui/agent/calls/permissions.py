"""The permission desk: puts a call before policy, and before the person where policy says so.

What a grant would have covered: the calls of this session that were asked for and would not have been.
"""

import json
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Protocol
from uuid import uuid4

from coder_tui.agent.hooks.protocol import HOOK_RULE, HookWish, wished
from coder_tui.agent.profiles.profiles import Profile
from coder_tui.agent.request_broker import RequestBroker
from coder_tui.policy.decide import (
    FLOOR_SOURCE,
    Action,
    Policy,
    Verdict,
    decide,
    may_all_be_read,
    refusal_ahead,
)
from coder_tui.policy.grants import offered_grants
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import DisplayBlock, TextBlock
from coder_tui.protocol.errors import REFUSED, ErrorType, ToolError, UserError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision, Editable, Grant, GrantScope
from coder_tui.tools.base import Access, Params, Tool
from coder_tui.tools.editing.refused_hunks import hunk_count

MOST_REMEMBERED = 200
"""Every one of them is decided again for each scope that is offered."""


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """The calls that a person was asked about since the session was opened."""

    _asked: deque[tuple[Action, str]] = field(default_factory=lambda: deque(maxlen=MOST_REMEMBERED))

    def remember(self, action: Action, summary: str) -> None:
        self._asked.append((action, summary))

    def covered(self, grant: Grant, policy: Policy) -> tuple[str, ...]:
        """Summaries of what the grant alone would have let pass, each once."""
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
    """Who is named where a call needs an answer; the main agent is not."""

    name: str = ""
    child_id: str = ""


MAIN_AGENT = AskingAgent()


@dataclass(frozen=True, slots=True)
class Clearance:
    """A call may run. `edited` is to run instead, once it is cleared as well; `refused` are not written."""

    edited: str | None = None
    refused: tuple[int, ...] = ()
    was_asked: bool = True


Notify = Callable[[NoticeLevel, str], None]
Guard = Callable[[Access], Awaitable[None]]
"""Somebody else who holds files, such as an editor: raises `ToolError` where a call must not touch them."""


async def unguarded(access: Access) -> None:
    """Nobody else holds anything."""


class DecisionLog(Protocol):
    """Keeps every verdict with its rule."""

    async def decided(self, call_id: str, tool: str, verdict: Verdict, answer: str) -> None: ...


class GrantKeeper(Protocol):
    """Keeps what a person allowed beyond this session; says where, or raises `UserError`."""

    async def keep(self, grant: Grant) -> str: ...


class PermissionDesk:
    """Holds what may change during a session: the mode, the profile that leads and the person's grants."""

    def __init__(
        self, policy: Policy, broker: RequestBroker, log: DecisionLog, keeper: GrantKeeper, notify: Notify
    ) -> None:
        self._policy = policy
        self._broker = broker
        self._log = log
        self._keeper = keeper
        self._notify = notify
        self._before = AskedBefore()
        self._profile: Profile | None = None
        self._limits: Profile | None = None
        self._parent: PermissionDesk | None = None
        self.guard: Guard = unguarded

    def child(self, profile: Profile) -> "PermissionDesk":
        """A sub-agent's desk: what holds here at each moment holds there, and its profile's layer beside."""
        desk = PermissionDesk(self._policy, self._broker, self._log, self._keeper, self._notify)
        desk._parent, desk._profile, desk._before = self, profile, self._before
        desk.guard = lambda access: self.guard(access)
        return desk

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

    def narrow(self, limits: Profile | None) -> None:
        """Beside the profile's, these tools and rules limit every call, until there are others or none."""
        self._limits = limits

    def let_read(self, folder: Path) -> None:
        """Reading in this folder, resolved, needs no question from now on, though it may lie outside."""
        if self._parent is not None:
            self._parent.let_read(folder)
            return
        inside = self._policy.boundaries
        readable = tuple(dict.fromkeys((*inside.readable, str(folder))))
        self._policy = replace(self._policy, boundaries=replace(inside, readable=readable))

    def verdict(self, action: Action) -> Verdict:
        return decide(action, self.policy)

    def _verdict_on(self, action: Action) -> Verdict:
        """As `verdict`, for a call of a tool: one that the agent does not have is denied as well."""
        return self._tool_missing(action) or self.verdict(action)

    def _tool_missing(self, action: Action) -> Verdict | None:
        if (profile := self._without(action)) is None:
            return None
        reason = f"the agent {profile.name} does not have the tool {action.tool}"
        return Verdict(Effect.DENY, f"{action.tool} = off", f"agent {profile.name}", (reason,))

    def _without(self, action: Action) -> Profile | None:
        """The first of those who answer for the call that does not have its tool."""
        if self._parent is not None and (profile := self._parent._without(action)) is not None:
            return profile
        both = (each for each in (self._profile, self._limits) if each is not None)
        return next((each for each in both if not each.offers(action.tool, action.kind)), None)

    async def refuse_ahead(self, call_id: str, tool: Tool[Any], is_foreign: bool) -> None:
        """Raise if the call is denied whatever it touches, before anything is prepared for it."""
        action = action_of(tool, None, is_foreign=is_foreign)
        verdict = self._tool_missing(action) or refusal_ahead(action, self.policy)
        if verdict is not None:
            await self._log.decided(call_id, tool.name, verdict, "")
            raise _denied(verdict)

    def report_failure(self, tool: Tool[Any], access: Access | None, is_foreign: bool) -> None:
        """Raise why an edit cannot be made, unless it is denied or quotes what may not be read unasked."""
        if access is None or access.failure is None or not may_all_be_read(access.targets, self.policy):
            return
        if self._verdict_on(action_of(tool, access, is_foreign=is_foreign)).effect is not Effect.DENY:
            raise access.failure

    async def clear(
        self,
        call_id: str,
        tool: Tool[Any],
        params: Params,
        access: Access | None,
        *,
        is_repeat: bool,
        asker: AskingAgent = MAIN_AGENT,
        is_foreign: bool = False,
        is_persons: bool = False,
        is_in_turn: bool = True,
        wish: HookWish | None = None,
    ) -> Clearance:
        """Return when the call may run; raise `ToolError` when it may not. `is_persons`: their own wish."""
        action = action_of(tool, access, is_foreign=is_foreign)
        decide_on = self.verdict if is_persons else self._verdict_on
        verdict = wished(decide_on(action), wish)
        if is_repeat and verdict.effect is Effect.ALLOW:
            verdict = Verdict(
                Effect.ASK, REPEAT_RULE, "limits.repeated_calls", ("the same call again and again",)
            )
        if access is not None and access.asks_again and verdict.effect is Effect.ALLOW:
            verdict = Verdict(Effect.ASK, CHANGED_RULE, FLOOR_SOURCE, (access.asks_again,))
        match verdict.effect:
            case Effect.ALLOW:
                await self._log.decided(call_id, tool.name, verdict, "")
            case Effect.DENY:
                await self._log.decided(call_id, tool.name, verdict, "")
                raise _denied(verdict)
            case Effect.ASK:
                is_lasting = verdict.rule not in (REPEAT_RULE, HOOK_RULE)
                grants = offered_grants(action, self.policy) if is_lasting else ()
                request = _request(call_id, tool, params, access, verdict, grants, asker)
                request = replace(request, covered=self._covered(grants), is_in_turn=is_in_turn)
                self._before.remember(action, request.summary)
                reply = await self._broker.ask(request)
                await self._log.decided(call_id, tool.name, verdict, reply.decision)
                clearance = await self._apply(request, reply)
                # While the person read, the mode or the agent may have become another.
                if (now := decide_on(action)).effect is Effect.DENY:
                    raise _denied(now)
                return clearance
        return Clearance(was_asked=False)

    async def clear_edited(
        self,
        call_id: str,
        tool: Tool[Any],
        access: Access | None,
        answer: str = Decision.MODIFY,
        *,
        is_foreign: bool = False,
        is_persons: bool = False,
    ) -> None:
        """What the person wrote runs without another question; what is denied stays denied."""
        decide_on = self.verdict if is_persons else self._verdict_on
        verdict = decide_on(action_of(tool, access, is_foreign=is_foreign))
        await self._log.decided(call_id, tool.name, verdict, answer)
        if verdict.effect is Effect.DENY:
            raise _denied(verdict)

    def check_still(self, tool: Tool[Any], access: Access | None, *, is_foreign: bool) -> None:
        """Right before a cleared call runs: the mode or the agent may have become another."""
        now = self._verdict_on(action_of(tool, access, is_foreign=is_foreign))
        if now.effect is Effect.DENY:
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

    def _covered(self, grants: tuple[Grant, ...]) -> tuple[tuple[str, ...], ...]:
        return tuple(self._before.covered(grant, self.policy) for grant in grants)

    async def _grant(self, grant: Grant) -> None:
        if self._parent is not None:
            await self._parent._grant(grant)
            return
        self._policy = replace(self._policy, grants=(*self._policy.grants, grant))
        if grant.scope is GrantScope.SESSION:
            return
        try:
            place = await self._keeper.keep(grant)
        except UserError as error:
            self._notify(NoticeLevel.WARNING, f"Allowed for this session only, not saved: {error}")
        else:
            self._notify(NoticeLevel.INFO, f"Saved to {place}: {grant.label}")


def _allowed(request: ApprovalRequest, reply: ApprovalReply) -> Clearance:
    """A call of which every hunk is refused is refused; so is one that cannot leave any out."""
    refused = tuple(sorted(set(reply.refused)))
    if refused and (not request.is_divisible or len(refused) >= hunk_count(request.preview)):
        raise _refused(reply)
    return Clearance(refused=refused)


def _request(
    call_id: str,
    tool: Tool[Any],
    params: Params,
    access: Access | None,
    verdict: Verdict,
    grants: tuple[Grant, ...],
    asker: AskingAgent,
) -> ApprovalRequest:
    return ApprovalRequest(
        id=uuid4().hex,
        call_id=call_id,
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
        agent=asker.name,
        child_id=asker.child_id,
        is_divisible=bool(access and access.is_divisible),
    )


def _editable(tool: Tool[Any], params: Params) -> Editable | None:
    if not tool.editable:
        return None
    path = getattr(params, "path", "")
    suffix = ".sh" if tool.editable == "command" else PurePath(path).suffix or ".txt"
    return Editable(tool.editable, str(getattr(params, tool.editable)), suffix)


def action_of(tool: Tool[Any], access: Access | None, *, is_foreign: bool = False) -> Action:
    if access is None:
        return Action(tool.name, tool.permission, tool.kind, is_foreign=is_foreign)
    return Action(tool.name, tool.permission, tool.kind, access.targets, access.command, is_foreign)


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
