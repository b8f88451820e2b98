"""Mode `auto`: what the sandbox holds in, so that nobody needs to be asked."""

from coder_tui.policy.action import Policy
from coder_tui.policy.command import ShellCommand
from coder_tui.policy.paths import is_git_internal, is_own_configuration, is_within
from coder_tui.protocol.findings import Finding, FindingKind


def why_not_confined(command: ShellCommand, policy: Policy) -> str:
    """Why the person must be asked all the same; empty where the sandbox is enough."""
    if not policy.is_sandboxed:
        return "there is no sandbox here that is strong enough to run it unasked; 'coder-tui doctor' says why"
    if policy.boundaries.wide_roots and not command.is_read_only:
        return "the workspace contains your home folder, which the sandbox would let it change"
    if command.has_hidden_characters:
        return "it holds characters that cannot be seen or told apart"
    if command.unjudged or not command.parts:
        return "it was not understood"
    if command.has_open_targets:
        return "what it changes or removes is known only when it runs"
    reasons = (_reason(finding, policy) for finding in command.findings)
    return next((reason for reason in reasons if reason), "")


def _reason(finding: Finding, policy: Policy) -> str:
    match finding.kind:
        case FindingKind.NETWORK:
            return "it uses the network"
        case FindingKind.DELETES:
            return "it can remove files for good"
        case FindingKind.WRITES if finding.target.startswith("/"):
            return _writing(finding.target, policy)
        case _:
            return ""


def _writing(path: str, policy: Policy) -> str:
    if is_git_internal(path):
        return "it changes the repository"
    if is_own_configuration(path, policy.boundaries):
        return "it changes this program's own configuration"
    return "" if is_within(path, policy.boundaries.roots) else f"it writes {path}, outside the workspace"
