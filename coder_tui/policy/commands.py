"""Decide on a command: the strictest verdict over its parts, its paths and its doubts.

In mode `auto`, a command that the sandbox can contain runs without asking.
"""

from collections.abc import Iterator

from coder_tui.policy.command import CommandPart, ShellCommand
from coder_tui.policy.paths import is_git_internal, is_own_configuration, is_within
from coder_tui.policy.rules import (
    EVERYTHING,
    Effect,
    Layer,
    Rule,
    allows_command,
    is_exact,
    pattern_matches,
    rule_applies,
    strictest,
)
from coder_tui.policy.targets import (
    DEFAULT_SOURCE,
    Action,
    Policy,
    Verdict,
    by_rule,
    decide_target,
    floor,
    granted,
)
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.findings import Finding, FindingKind
from coder_tui.protocol.requests import Grant, GrantForm


def why_not_confined(command: ShellCommand, policy: Policy) -> str:
    """Return why the user must still be asked, or an empty string if the sandbox is enough."""
    if not policy.is_sandboxed:
        return "no sandbox here is strong enough to run it without asking; 'coder-tui doctor' shows why"
    if policy.boundaries.wide_roots and not command.is_read_only:
        return "the workspace contains your home folder, which the sandbox would let it change"
    if command.has_hidden_characters:
        return "it contains characters that are invisible or look like others"
    if command.unjudged or not command.parts:
        return "it was not understood"
    if command.has_open_targets:
        return "what it changes or deletes is known only when it runs"
    reasons = (_reason(finding, policy) for finding in command.findings)
    return next((reason for reason in reasons if reason), "")


def _reason(finding: Finding, policy: Policy) -> str:
    match finding.kind:
        case FindingKind.NETWORK:
            return "it uses the network"
        case FindingKind.DELETES:
            return "it can delete files permanently"
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


ANALYSIS = "shell analysis"
AUTO_RULE = "mode auto"


def decide_command(action: Action, command: ShellCommand, policy: Policy) -> list[Verdict]:
    """Return all verdicts, those with the more specific reason first."""
    verdicts = list(_decide_all(action, command, policy))
    if (grant := _exact_grant(action, command, policy)) is not None:
        # The user saw exactly this text and everything it touches.
        return [verdict for verdict in verdicts if verdict.effect is Effect.DENY] or [granted(grant)]
    return verdicts


def _decide_all(action: Action, command: ShellCommand, policy: Policy) -> Iterator[Verdict]:
    if policy.mode is Mode.PLAN and not command.is_read_only:
        reason = "plan mode changes nothing, and this command is not known to only read"
        yield floor(Effect.DENY, "plan mode", reason)
    yield from _refusals(action, command, policy)
    parts = [_decide_part(action, part, command, policy) for part in command.parts]
    are_allowed = all(verdict is None or verdict.effect is Effect.ALLOW for verdict in parts)
    for target in _paths(action, command):
        yield _decide_path(target, command, policy, are_allowed=are_allowed)
    if command.doubts and not _is_exactly_allowed(action, command, policy):
        yield _confined(floor(Effect.ASK, ANALYSIS, *command.doubts), command, policy)
    yield from (verdict for verdict in parts if verdict is not None)
    if not command.parts or all(verdict is None for verdict in parts):
        yield _confined(_default(action), command, policy)


def _default(action: Action) -> Verdict:
    reason = "no rule allows it"
    return Verdict(Effect.ASK, f"default for {action.kind} tools", DEFAULT_SOURCE, (reason,))


def _paths(action: Action, command: ShellCommand) -> list[Target]:
    declared = (target for target in action.targets if target.kind is TargetKind.PATH)
    return list(dict.fromkeys((*command.targets, *declared)))


def _decide_path(target: Target, command: ShellCommand, policy: Policy, *, are_allowed: bool) -> Verdict:
    """Decide on a path as for the tools that read and edit files."""
    if target.writes and target.value in command.linked_out:
        return floor(
            Effect.DENY, "links that lead out", f"a link would take the change to {target.value}, outside"
        )
    name, kind = ("edit", ToolKind.EDIT) if target.writes else ("read", ToolKind.READ)
    verdict = decide_target(Action(name, name, kind, (target,)), target, policy)
    is_plain = verdict.effect is Effect.ASK and verdict.source == DEFAULT_SOURCE
    if is_plain and are_allowed and target.value in command.own_writes:
        reason = f"changing {target.value} is what the command is for"
        return Verdict(Effect.ALLOW, verdict.rule, verdict.source, (reason,))
    if is_plain:
        return Verdict(Effect.ASK, verdict.rule, verdict.source, (f"it changes {target.value}",))
    return verdict


def _refusals(action: Action, command: ShellCommand, policy: Policy) -> Iterator[Verdict]:
    """Apply rules that ask or deny to every way to write the command, and to what was not analyzed."""
    texts = {command.text.strip(), *command.unjudged}
    for part in command.parts:
        texts.update(part.other_texts)
        if part.doubts or command.doubts:
            texts.add(part.text)
    for layer in policy.layers:
        # A rule for everything is matched against the parts; `> file` has none.
        rules = [
            rule
            for rule in layer.effective
            if rule_applies(rule, action.keys)
            and (rule.pattern != EVERYTHING or not (command.parts or rule.yields_to_mode))
        ]
        strict = [rule for rule in rules if rule.effect is not Effect.ALLOW]
        struck = [text for text in texts if _last(strict, text)]
        found = {rule for text in struck if (rule := _last(rules, text)) and rule.effect is not Effect.ALLOW}
        yield from (by_rule(rule) for rule in found)


def _last(rules: list[Rule], text: str) -> Rule | None:
    return next((rule for rule in reversed(rules) if pattern_matches(rule.pattern, text)), None)


def _decide_part(action: Action, part: CommandPart, command: ShellCommand, policy: Policy) -> Verdict | None:
    """Decide on one part. Returns None if it does nothing on its own, so that the others decide."""
    rules = (_layer_rule(layer, action, part, command) for layer in policy.layers)
    rule = strictest(rule for rule in rules if rule)
    if rule is not None and rule.effect is Effect.DENY:
        return by_rule(rule)
    if part.doubts and not _is_exactly_allowed(action, command, policy):
        return _confined(floor(Effect.ASK, ANALYSIS, *part.doubts), command, policy, rule)
    if part.is_transparent and (rule is None or rule.pattern == EVERYTHING):
        return None
    verdict = by_rule(rule) if rule else _default(action)
    if verdict.effect is Effect.ASK and (grant := _part_grant(action, part, command, policy)):
        return granted(grant)
    return _confined(verdict, command, policy, rule)


def _layer_rule(layer: Layer, action: Action, part: CommandPart, command: ShellCommand) -> Rule | None:
    """Return the layer's last match. A rule that allows must match this part, or equal the whole line."""
    rules = [rule for rule in layer.effective if rule_applies(rule, action.keys)]
    last = next((rule for rule in reversed(rules) if _matches_part(rule, part, command)), None)
    if last is None or not last.yields_to_mode:
        return layer.effective_match(last)
    return strictest(
        rule for rule in rules if rule.effect is Effect.ASK and _matches_part(rule, part, command)
    )


def _matches_part(rule: Rule, part: CommandPart, command: ShellCommand) -> bool:
    if rule.effect is not Effect.ALLOW:
        return pattern_matches(rule.pattern, part.text)
    is_whole = is_exact(rule.pattern) and rule.pattern == command.text.strip()
    return is_whole or any(allows_command(rule.pattern, text) for text in part.allowable)


def _is_exactly_allowed(action: Action, command: ShellCommand, policy: Policy) -> bool:
    """Return whether a rule allows exactly this line. Doubts are about text that no one has read."""
    if command.has_hidden_characters:
        return False
    text = command.text.strip()
    return any(
        rule.effect is Effect.ALLOW
        and rule_applies(rule, action.keys)
        and is_exact(rule.pattern)
        and rule.pattern == text
        for layer in policy.layers
        if not layer.only_tightens
        for rule in layer.effective
    )


def _exact_grant(action: Action, command: ShellCommand, policy: Policy) -> Grant | None:
    for grant in policy.grants:
        if grant.form is GrantForm.EXACT and grant.key in action.keys and command.text in grant.patterns:
            return grant
    return None


def _part_grant(action: Action, part: CommandPart, command: ShellCommand, policy: Policy) -> Grant | None:
    if command.doubts or part.doubts:
        return None
    for grant in policy.grants:
        is_relevant = grant.form is GrantForm.GLOB and grant.key in action.keys
        if is_relevant and any(
            allows_command(pattern, text) for pattern in grant.patterns for text in part.allowable
        ):
            return grant
    return None


def _confined(verdict: Verdict, command: ShellCommand, policy: Policy, rule: Rule | None = None) -> Verdict:
    """In mode `auto`, let the sandbox replace the question, unless a rule of the user asks."""
    if policy.mode is not Mode.AUTO or verdict.effect is not Effect.ASK:
        return verdict
    if rule is not None and rule.effect is Effect.ASK and not rule.yields_to_mode:
        return by_rule(rule)
    if reason := why_not_confined(command, policy):
        return Verdict(Effect.ASK, verdict.rule, verdict.source, (reason, *verdict.reasons))
    return Verdict(Effect.ALLOW, AUTO_RULE, DEFAULT_SOURCE, ("the sandbox confines it",))
