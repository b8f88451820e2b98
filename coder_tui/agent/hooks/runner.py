"""Run hooks: commands of the user or of a trusted project, which get as JSON what is about to happen.

Reads what they answered, by exit code or by JSON that they printed. Hooks of other programs get our tools by
the names that they know. What a hook wishes never reaches over a rule, a protection or plan mode.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from coder_tui.policy.rules import Effect
from coder_tui.policy.targets import DEFAULT_SOURCE, Verdict
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import ToolError
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.shell.sandbox.confinement import NOTHING_MORE, Confinement
from coder_tui.shell.session_shell import Answer, AnswerLimits, SessionShell
from coder_tui.text.name_pattern import name_pattern
from coder_tui.text.redact import Redactor
from coder_tui.text.safe_text import safe_line
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
        return HookReply(Effect.DENY, _cut(answer.stderr) or _SILENT)
    if answer.exit_code:
        said = plain_output(answer.stderr).strip()[-_LAST_WORDS:]
        return HookReply(problem=f"{answer.ending}: {said}" if said else answer.ending)
    if answer.is_cut:
        return HookReply(problem="printed more than is taken")
    text = answer.stdout.strip()
    if not text.startswith("{"):
        return HookReply(context=_cut(text) if event in _SPEAKING else "")
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
    return _cut(value) if isinstance(value, str) else ""


def _cut(text: str) -> str:
    return plain_output(text).strip()[:LONGEST]


# The first name is what such a hook is given; it may match any of them.
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


def to_foreign_format(fields: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """The same call with a name and a `file_path` that such a hook looks for."""
    said = dict(fields)
    if "tool_name" in said:
        said["tool_name"] = (*other_names(str(said["tool_name"])), said["tool_name"])[0]
    given = said.get(_INPUT)
    if isinstance(given, Mapping) and isinstance(given.get(_PATH), str):
        said[_INPUT] = {**given, _THEIRS: str(directory / given[_PATH])}
    return said


def from_foreign_format(
    updated: Mapping[str, Any], given: Mapping[str, Any], directory: Path
) -> dict[str, Any]:
    """Return what a hook made of the input: its `file_path` is our `path`, unless it only gave that back."""
    ours = {name: value for name, value in updated.items() if name != _THEIRS}
    theirs = updated.get(_THEIRS)
    if _PATH in given and isinstance(theirs, str) and theirs != str(directory / str(given[_PATH])):
        ours[_PATH] = theirs
    return ours


HOOK_RULE = "a hook"


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """A question, or none where only a default would ask one."""

    effect: Effect
    reason: str
    source: str


def apply_hook_verdict(verdict: Verdict, hook: HookVerdict | None) -> Verdict:
    if hook is None:
        return verdict
    own = Verdict(hook.effect, HOOK_RULE, hook.source, (hook.reason,))
    if hook.effect is Effect.ALLOW:
        is_default = verdict.effect is Effect.ASK and verdict.source == DEFAULT_SOURCE
        return own if is_default else verdict
    return own if hook.effect.strictness > verdict.effect.strictness else verdict


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
    """A hook from the file `source`. `is_for_others`: it was written for a program with other names."""

    event: HookEvent
    command: str
    matcher: str = ""
    timeout: float = 60.0
    source: str = ""
    is_confined: bool = True
    is_own: bool = True
    is_for_others: bool = False
    on_failure: Effect | None = None

    def matches(self, subject: str) -> bool:
        if self.matcher in _EVERY or not subject:
            return True
        pattern = name_pattern(self.matcher)
        return any(pattern.covers(name) for name in (subject, *other_names(subject)))

    @property
    def when_it_fails(self) -> Effect | None:
        """None: everything goes on as if there were no hook."""
        if self.on_failure is None:
            return Effect.ASK if self.event is HookEvent.PRE_TOOL_USE else None
        # That it may go on is no approval: if the user would be asked, they still are.
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
    """Serves one session. `is_trusted` tells whether a project's own are still what the user trusted."""

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
        return any(hook.event is event and hook.matches(subject) for hook in self.hooks)

    async def run(
        self, event: HookEvent, fields: Mapping[str, Any], subject: str = "", *, limit: float | None = None
    ) -> HookReplies:
        """One by one, in their order; each sees what the one before it made of the input."""
        given, replies = dict(fields), list[tuple[Hook, HookReply]]()
        for hook in self.hooks:
            if hook.event is not event or not hook.matches(subject):
                continue
            reply = await self._ask(hook, given, limit)
            if reply is None:
                continue
            replies.append((hook, reply))
            if reply.is_refusal:
                break
            if reply.updated is not None:
                given["tool_input"] = reply.updated
        return HookReplies(tuple(replies))

    async def _ask(self, hook: Hook, fields: Mapping[str, Any], limit: float | None) -> HookReply | None:
        """Run one hook; return None if it failed and nothing depends on it."""
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
        """Warn once. What the hook guards does not go on as if it had agreed."""
        self._warn(hook, problem)
        if (effect := hook.when_it_fails) is None:
            return None
        return HookReply(effect, f"the hook `{hook.shown}` has no word on this: it {problem}")

    async def _converse(self, hook: Hook, fields: Mapping[str, Any], limit: float) -> HookReply:
        payload = {
            "session_id": self.session_id,
            "cwd": str(self.directory),
            "permission_mode": _MODES[self.mode()],
            "hook_event_name": str(hook.event),
            **(to_foreign_format(fields, self.directory) if hook.is_for_others else fields),
        }
        answer = await self.shell.run_with_input(
            hook.command,
            self.redact.known(json.dumps(payload, ensure_ascii=False, default=str)),
            await self._confinement(hook),
            # Its exit code counts, however much it prints.
            AnswerLimits(limit, MOST_BYTES, stops_flood=False),
            variables=self._variables(),
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
