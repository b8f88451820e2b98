"""Reads what a hook answered: by its exit code, or by JSON that it printed.

Our tools by the names that hooks of other programs know, and calls in the words that they expect.

What a hook wishes of policy, and how far that reaches: never over a rule, a protection or plan mode.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from coder_tui.policy.model import DEFAULT_SOURCE, Verdict
from coder_tui.policy.rules import Effect
from coder_tui.shell.conversation import Answer
from coder_tui.text.terminal import plain_output

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


# The first is what such a hook is told; all of them are what it may wait for.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "bash": ("Bash",),
    "bash_output": ("BashOutput",),
    "bash_kill": ("KillShell", "KillBash"),
    "read": ("Read",),
    "read_many": ("Read",),
    "read_around": ("Read",),
    "edit": ("Edit", "MultiEdit"),
    "patch": ("Edit", "MultiEdit"),
    "apply_patch": ("Edit", "MultiEdit"),
    "write": ("Write",),
    "create_file": ("Write",),
    "glob": ("Glob",),
    "grep": ("Grep",),
    "list": ("LS",),
    "fetch": ("WebFetch",),
    "websearch": ("WebSearch",),
    "task": ("Task", "Agent"),
    "fork": ("Task", "Agent"),
    "todowrite": ("TodoWrite",),
    "question": ("AskUserQuestion",),
    "plan_exit": ("ExitPlanMode",),
    "skill": ("Skill",),
}
_INPUT, _PATH, _THEIRS = "tool_input", "path", "file_path"


def other_names(tool: str) -> tuple[str, ...]:
    return _NAMES.get(tool, ())


def said_to_others(fields: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The same call with a name and a `file_path` that such a hook looks for."""
    said = dict(fields)
    if "tool_name" in said:
        said["tool_name"] = (*other_names(str(said["tool_name"])), said["tool_name"])[0]
    given = said.get(_INPUT)
    if isinstance(given, Mapping) and isinstance(given.get(_PATH), str):
        said[_INPUT] = {**given, _THEIRS: str(directory / given[_PATH])}
    return said


def in_our_words(updated: Mapping[str, Any], given: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """What a hook made of the input: its `file_path` is our `path`, unless it only gave that back."""
    ours = {name: value for name, value in updated.items() if name != _THEIRS}
    theirs = updated.get(_THEIRS)
    if _PATH in given and isinstance(theirs, str) and theirs != str(directory / str(given[_PATH])):
        ours[_PATH] = theirs
    return ours


HOOK_RULE = "a hook"


@dataclass(frozen=True, slots=True)
class HookWish:
    """A question, or none where only a default would ask one."""

    effect: Effect
    reason: str
    source: str


def wished(verdict: Verdict, wish: HookWish | None) -> Verdict:
    if wish is None:
        return verdict
    own = Verdict(wish.effect, HOOK_RULE, wish.source, (wish.reason,))
    if wish.effect is Effect.ALLOW:
        is_default = verdict.effect is Effect.ASK and verdict.source == DEFAULT_SOURCE
        return own if is_default else verdict
    return own if wish.effect.strictness > verdict.effect.strictness else verdict
