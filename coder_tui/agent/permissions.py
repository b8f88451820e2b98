"""The permission desk: puts a call before policy, and before the person where policy says so."""

import json
from dataclasses import replace
from typing import Any, Protocol
from uuid import uuid4

from coder_tui.agent.request_broker import RequestBroker
from coder_tui.policy.decide import Action, Policy, Verdict, decide
from coder_tui.policy.grants import offered_grants
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import DisplayBlock, TextBlock
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from coder_tui.tools.base import Access, Params, Tool

REPEAT_RULE = "repeated calls"


class DecisionLog(Protocol):
    """Keeps every verdict with its rule."""

    async def decided(self, call_id: str, tool: str, verdict: Verdict, answer: str) -> None: ...


class PermissionDesk:
    """Holds what may change during a session: the mode and the person's grants."""

    def __init__(self, policy: Policy, broker: RequestBroker, log: DecisionLog) -> None:
        self._policy = policy
        self._broker = broker
        self._log = log

    @property
    def mode(self) -> Mode:
        return self._policy.mode

    def set_mode(self, mode: Mode) -> None:
        self._policy = replace(self._policy, mode=mode)

    def verdict(self, action: Action) -> Verdict:
        return decide(action, self._policy)

    async def clear(
        self, call_id: str, tool: Tool[Any], params: Params, access: Access | None, *, is_repeat: bool
    ) -> None:
        """Return when the call may run; raise `ToolError` when it may not."""
        action = action_of(tool, access)
        verdict = self.verdict(action)
        if is_repeat and verdict.effect is Effect.ALLOW:
            verdict = Verdict(
                Effect.ASK, REPEAT_RULE, "limits.repeated_calls", ("the same call again and again",)
            )
        match verdict.effect:
            case Effect.ALLOW:
                await self._log.decided(call_id, tool.name, verdict, "")
            case Effect.DENY:
                await self._log.decided(call_id, tool.name, verdict, "")
                raise _denied(verdict)
            case Effect.ASK:
                await self._ask(call_id, tool, params, access, action, verdict)

    async def _ask(
        self,
        call_id: str,
        tool: Tool[Any],
        params: Params,
        access: Access | None,
        action: Action,
        verdict: Verdict,
    ) -> None:
        grants = () if verdict.rule == REPEAT_RULE else offered_grants(action, self._policy)
        request = ApprovalRequest(
            id=uuid4().hex,
            call_id=call_id,
            tool=tool.name,
            kind=tool.kind,
            title=_title(tool, params),
            preview=_preview(params, access),
            facts=verdict.reasons + (access.facts if access else ()),
            grants=grants,
            is_undoable=bool(access and access.is_undoable),
            rule=f"{verdict.rule} ({verdict.source})",
            summary=tool.summary(params),
        )
        reply = await self._broker.ask(request)
        await self._log.decided(call_id, tool.name, verdict, reply.decision)
        self._apply(request, reply)

    def _apply(self, request: ApprovalRequest, reply: ApprovalReply) -> None:
        match reply.decision:
            case Decision.ALLOW_ONCE:
                return
            case Decision.ALLOW_ALWAYS:
                if reply.grant in request.grants and reply.grant is not None:
                    self._policy = replace(self._policy, grants=(*self._policy.grants, reply.grant))
            case Decision.DENY | Decision.CANCEL_TURN:
                raise _refused(reply)
            case Decision.NOBODY_THERE:
                raise _unattended(request)


def action_of(tool: Tool[Any], access: Access | None) -> Action:
    if access is None:
        return Action(tool.name, tool.permission, tool.kind)
    return Action(tool.name, tool.permission, tool.kind, access.targets, access.command)


def _title(tool: Tool[Any], params: Params) -> str:
    if tool.kind is ToolKind.EXECUTE:
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
        f"the person refused this call{words}",
        "Nothing was done. Take the refusal into account before you go on.",
    )
