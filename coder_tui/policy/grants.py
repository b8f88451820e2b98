"""What "allow always" may offer for a call: the narrowest useful rules, never more than was shown."""

from pathlib import PurePath

from coder_tui.policy.decide import Action, Policy
from coder_tui.policy.paths import is_within, shown_path
from coder_tui.policy.secrets import is_secret
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.requests import Grant, GrantForm


def offered_grants(action: Action, policy: Policy) -> tuple[Grant, ...]:
    """Scopes for this session, narrowest first; none where one answer must not cover the next call."""
    if len(action.targets) != 1:
        return ()
    target = action.targets[0]
    match target.kind:
        case TargetKind.COMMAND:
            return (Grant(action.permission, (target.value,), "this exact command, this session"),)
        case TargetKind.PATH:
            return _path_grants(action, target, policy)
        case TargetKind.ADDRESS if target.writes:
            return ()
        case TargetKind.ADDRESS | TargetKind.NAME:
            return (Grant(action.permission, (target.value,), f"{target.value}, this session"),)


def _path_grants(action: Action, target: Target, policy: Policy) -> tuple[Grant, ...]:
    shown = shown_path(target.value, policy.boundaries)
    exact = Grant(action.permission, (target.value,), f"{shown}, this session")
    if is_secret(target.value) or not is_within(target.value, policy.boundaries.roots):
        return (exact,)
    root = next(root for root in policy.boundaries.roots if PurePath(target.value).is_relative_to(root))
    label = f"every {action.permission} inside the workspace, this session"
    return exact, Grant(action.permission, (root,), label, GrantForm.FOLDER)
