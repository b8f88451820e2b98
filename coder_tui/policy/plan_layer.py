"""Plan mode as a layer above all others: what is not known to change nothing is denied, whoever asks."""

from coder_tui.policy.action import Action
from coder_tui.protocol.access import TargetKind, ToolKind

CHANGES_NOTHING = "plan mode changes nothing"
# They only make further calls, and each of those is decided by itself.
_DELEGATING = frozenset({"task", "fork", "batch"})


def plan_refusal(action: Action) -> str:
    """Why the call has no place in plan mode; empty where it has one."""
    if action.is_foreign:
        return f"{CHANGES_NOTHING}, and nobody knows what a foreign tool does"
    if any(target.writes for target in action.targets if target.kind is not TargetKind.COMMAND):
        return CHANGES_NOTHING
    if action.kind is ToolKind.OTHER:
        return "" if action.tool in _DELEGATING else CHANGES_NOTHING
    if action.command is not None:
        is_reading = action.command.is_read_only
        return "" if is_reading else f"{CHANGES_NOTHING}, and this command is not known to only read"
    return CHANGES_NOTHING if action.kind.mutates else ""
