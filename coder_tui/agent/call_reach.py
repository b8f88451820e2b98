"""What a call may change, as far as its declaration tells."""

from dataclasses import replace
from pathlib import Path

from coder_tui.policy.paths import is_git_internal
from coder_tui.protocol.access import TargetKind, ToolKind
from coder_tui.tools.base import Access
from coder_tui.tools.editing.change import IMPOSSIBLE


def may_change_anything(kind: ToolKind, access: Access | None) -> bool:
    """A command, unless it was proven to only look; so is a tool of others that is one."""
    is_command = kind is ToolKind.EXECUTE or bool(access and access.sandbox)
    return is_command and not (access and access.command and access.command.is_read_only)


def touches_git(access: Access | None) -> bool:
    """Whether what git keeps may be gone when the command has ended."""
    if access is None or access.command is None:
        return True
    named = (*(target.value for target in access.targets), *(each.target for each in access.command.findings))
    return any(is_git_internal(value) for value in named)


def unbound(kind: ToolKind, access: Access | None) -> Access | None:
    """An edit that nobody looked at may meet a file that another agent has just changed elsewhere."""
    if access is None or kind is not ToolKind.EDIT or access.fingerprint == IMPOSSIBLE:
        return access
    return replace(access, fingerprint="")


def changed_paths(kind: ToolKind, access: Access | None) -> tuple[Path, ...]:
    """What a call says it will change; what a command changes is not known before."""
    if access is None or kind not in {ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE}:
        return ()
    written = (target for target in access.targets if target.kind is TargetKind.PATH and target.writes)
    return tuple(Path(target.value) for target in written)
