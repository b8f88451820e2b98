"""Reads what a hook answered: by its exit code, or by JSON that it printed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from coder_tui.policy.rules import Effect
from coder_tui.shell.piped import Answer
from coder_tui.text.terminal_text import plain_output

BLOCKS = 2
"""The exit code by which a hook refuses."""
LONGEST = 20_000
"""Characters of what a hook has to say."""
_SILENT = "it gave no reason"
_LAST_WORDS = 300


class HookEvent(StrEnum):
    """When hooks run, in the names that other programs use, too."""

    PRE_TOOL_USE = "PreToolUse"
    POST_TOOL_USE = "PostToolUse"
    USER_PROMPT_SUBMIT = "UserPromptSubmit"
    STOP = "Stop"
    SUBAGENT_STOP = "SubagentStop"
    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    PRE_COMPACT = "PreCompact"
    NOTIFICATION = "Notification"


# Their plain output is meant for the model; that of others is only a program's chatter.
_SPEAKING = frozenset({HookEvent.USER_PROMPT_SUBMIT, HookEvent.SESSION_START})
_EFFECTS = {"allow": Effect.ALLOW, "approve": Effect.ALLOW, "ask": Effect.ASK, "deny": Effect.DENY}


@dataclass(frozen=True, slots=True)
class HookReply:
    """`problem`: the hook failed, so that it has said nothing. `effect` is what it wishes of a call."""

    effect: Effect | None = None
    reason: str = ""
    updated: dict[str, Any] | None = None
    context: str = ""
    message: str = ""
    problem: str = ""

    @property
    def is_refusal(self) -> bool:
        return self.effect is Effect.DENY


def read_reply(event: HookEvent, answer: Answer) -> HookReply:
    if answer.timed_out:
        return HookReply(problem=answer.ending)
    if answer.exit_code == BLOCKS:
        return HookReply(Effect.DENY, _told(answer.stderr) or _SILENT)
    if answer.exit_code:
        said = plain_output(answer.stderr).strip()[-_LAST_WORDS:]
        return HookReply(problem=f"{answer.ending}: {said}" if said else answer.ending)
    if answer.is_cut:
        return HookReply(problem="printed more than is taken")
    text = answer.stdout.strip()
    if not text.startswith("{"):
        return HookReply(context=_told(text) if event in _SPEAKING else "")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        return HookReply(problem=f"printed JSON that cannot be read ({str(error)[:100]})")
    return _from_json(values)


def _from_json(values: Mapping[str, Any]) -> HookReply:
    given = values.get("hookSpecificOutput")
    own: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    wish = own.get("permissionDecision", values.get("decision"))
    # `block` is the word for whatever is no call.
    effect = Effect.DENY if wish == "block" else _EFFECTS.get(str(wish))
    reason = own.get("permissionDecisionReason", values.get("reason"))
    if values.get("continue") is False:
        effect, reason = Effect.DENY, values.get("stopReason", reason)
    updated = own.get("updatedInput")
    return HookReply(
        effect,
        _text(reason) or (_SILENT if effect is Effect.DENY else ""),
        dict(updated) if isinstance(updated, Mapping) else None,
        _text(own.get("additionalContext", values.get("additionalContext"))),
        _text(values.get("systemMessage")),
    )


def _text(value: object) -> str:
    return _told(value) if isinstance(value, str) else ""


def _told(text: str) -> str:
    return plain_output(text).strip()[:LONGEST]
