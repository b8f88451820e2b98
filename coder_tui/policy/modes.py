"""Defaults of each mode: what holds where no rule says otherwise."""

from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Mode, ToolKind

_QUIET_KINDS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK})
# `bash_kill` only ends what this session started with approval.
_QUIET_TOOLS = frozenset({"git_status", "git_diff", "git_log", "task", "fork", "batch", "bash_kill"})
_EDIT_KINDS = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
# What `memory` writes is told to every later session.
_ASKING_TOOLS = frozenset({"websearch", "memory"})


def default_effect(tool: str, kind: ToolKind, mode: Mode) -> tuple[Effect, str]:
    """The effect for a call that no rule names, and the sentence that explains it."""
    if tool in _QUIET_TOOLS:
        return Effect.ALLOW, f"{tool} runs without asking"
    if kind in _QUIET_KINDS and tool not in _ASKING_TOOLS:
        return Effect.ALLOW, f"{kind} tools run without asking"
    if mode is Mode.PLAN and (kind.mutates or kind is ToolKind.OTHER):
        return Effect.DENY, "plan mode changes nothing"
    if mode in (Mode.EDITS, Mode.AUTO) and kind in _EDIT_KINDS and tool not in _ASKING_TOOLS:
        return Effect.ALLOW, f"mode '{mode}' lets edits inside the workspace run"
    return Effect.ASK, f"{kind} tools ask by default"
