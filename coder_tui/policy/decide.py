"""Decide on a call: allow it, ask the user or deny it, and explain why.

Plan mode is a layer above all others: it denies whatever is not known to change nothing. The grants that
"allow always" offers for a call, and the scopes to choose from (session, project, all projects), are decided
here, too: they are narrow, useful, and never more than was shown.
"""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from coder_tui.policy.command import ShellCommand, pattern_for
from coder_tui.policy.commands import AUTO_RULE, decide_command
from coder_tui.policy.paths import is_secret, is_within, shown_path
from coder_tui.policy.rules import CUSTOM, EVERYTHING, Effect, Layer, Rule, is_exact, rule_applies
from coder_tui.policy.targets import (
    DEFAULT_SOURCE,
    EXTERNAL,
    FLOOR_SOURCE,
    SESSION_SOURCE,
    Action,
    Policy,
    Verdict,
    by_rule,
    decide_target,
)
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.findings import Finding, FindingKind
from coder_tui.protocol.requests import Grant, GrantForm, GrantScope

CHANGES_NOTHING = "plan mode changes nothing"
# They only make further calls, and each of those is decided on its own.
_DELEGATING = frozenset({"task", "fork", "batch"})


def plan_refusal(action: Action) -> str:
    """Return why plan mode denies the call, or an empty string if it does not."""
    if action.is_foreign:
        return f"{CHANGES_NOTHING}, and it is unknown what a foreign tool does"
    if any(target.writes for target in action.targets if target.kind is not TargetKind.COMMAND):
        return CHANGES_NOTHING
    if action.kind is ToolKind.OTHER:
        return "" if action.tool in _DELEGATING else CHANGES_NOTHING
    if action.command is not None:
        is_reading = action.command.is_read_only
        return "" if is_reading else f"{CHANGES_NOTHING}, and this command is not known to only read"
    return CHANGES_NOTHING if action.kind.mutates else ""


__all__ = [
    "DEFAULT_SOURCE",
    "EXTERNAL",
    "FLOOR_SOURCE",
    "SESSION_SOURCE",
    "Action",
    "Policy",
    "Verdict",
    "decide",
    "explain",
    "findable_by",
    "findings_of",
    "may_all_be_read",
    "refusal_ahead",
]
_SHOWING = frozenset({"edit", "write", "patch", "apply_patch"})
"""Tools that show the content of the files they change, in diffs and in errors."""
_COMMANDS = "bash"
"""The tool whose calls are decided by their command. Some of them only read."""


def decide(action: Action, policy: Policy) -> Verdict:
    """Return the strictest verdict over everything that the call touches."""
    if action.command is not None:
        verdicts = decide_command(action, action.command, policy)
    else:
        verdicts = [decide_target(action, target, policy) for target in action.targets or (None,)]
    if action.tool in _SHOWING:
        verdicts += filter(is_withheld, _reading_verdicts(action.targets, policy))
    if policy.mode is Mode.PLAN and (reason := plan_refusal(action)):
        # Last, because a rule that also denies explains more.
        verdicts.append(_plan_verdict(reason))
    strictest = max(verdicts, key=_weight)
    reasons = dict.fromkeys(
        reason for verdict in verdicts if verdict.effect is strictest.effect for reason in verdict.reasons
    )
    return replace(strictest, reasons=_of_weight(strictest.effect, tuple(reasons)))


def may_all_be_read(targets: tuple[Target, ...], policy: Policy) -> bool:
    """Return whether all files among the targets may be read without asking."""
    return all(verdict.effect is Effect.ALLOW for verdict in _reading_verdicts(targets, policy))


def _reading_verdicts(targets: tuple[Target, ...], policy: Policy) -> list[Verdict]:
    paths = (target.value for target in targets if target.kind is TargetKind.PATH)
    return [decide(read_action(path), policy) for path in paths]


def refusal_ahead(action: Action, policy: Policy) -> Verdict | None:
    """Return the denial that applies whatever the call touches, or None if its targets decide."""
    for layer in policy.layers:
        if rule := _denial_of_all(action, layer):
            return by_rule(rule)
    if policy.mode is Mode.PLAN and action.tool != _COMMANDS and (reason := plan_refusal(action)):
        return _plan_verdict(reason)
    return None


def _denial_of_all(action: Action, layer: Layer) -> Rule | None:
    """Return the layer's rule that denies every call of the tool, unless a later rule makes an exception."""
    for rule in reversed([rule for rule in layer.effective if rule_applies(rule, action.keys)]):
        if rule.effect is not Effect.DENY:
            return None
        if rule.pattern == EVERYTHING:
            return rule
    return None


def _plan_verdict(reason: str) -> Verdict:
    return Verdict(Effect.DENY, "plan mode = deny", "plan mode", (reason,))


def _weight(verdict: Verdict) -> tuple[int, bool, bool]:
    """Rank verdicts. Among equals, one by the mode says most and a default says least."""
    return verdict.effect.strictness, verdict.rule == AUTO_RULE, verdict.source != DEFAULT_SOURCE


def _of_weight(effect: Effect, reasons: tuple[str, ...]) -> tuple[str, ...]:
    """Drop reads that run by default: they need no mention next to the rule that allowed the command."""
    if effect is not Effect.ALLOW:
        return reasons
    return tuple(reason for reason in reasons if not reason.startswith("read tools")) or reasons


READ = "read"
_ASKS_FOR_ALL = f" {EVERYTHING!r} = {Effect.ASK}"


def findable_by(decide_on: Callable[[Action], Verdict]) -> Callable[[str], bool]:
    """Return a predicate over absolute paths: may a search show this file?

    A rule that asks for every file does not hide any: it was asked for with the search itself.
    """
    return lambda path: not is_withheld(decide_on(read_action(path)))


def read_action(path: str) -> Action:
    return Action(READ, READ, ToolKind.READ, (Target(TargetKind.PATH, path),))


def is_withheld(verdict: Verdict) -> bool:
    """Return whether a rule for this file, or for files like it, keeps it from being read without asking."""
    is_ruled = verdict.source not in (DEFAULT_SOURCE, FLOOR_SOURCE)
    return verdict.effect is not Effect.ALLOW and is_ruled and not verdict.rule.endswith(_ASKS_FOR_ALL)


_OUTCOMES = {
    Effect.ALLOW: "ALLOW: this call runs without asking.",
    Effect.ASK: "ASK: this call runs only if you allow it.",
    Effect.DENY: "DENY: this call is refused.",
}
_SOURCES = {
    DEFAULT_SOURCE: "what applies unless a rule of yours says otherwise",
    FLOOR_SOURCE: "a protection that no general rule can switch off",
    SESSION_SOURCE: "your own answer in this session",
}


def findings_of(action: Action) -> tuple[Finding, ...]:
    """Return what the call would do, from the analysis of its command or from what its tool declared."""
    if action.command is not None:
        return action.command.findings
    return tuple(_found(target) for target in action.targets)


def _found(target: Target) -> Finding:
    match target.kind:
        case TargetKind.PATH:
            return Finding(FindingKind.WRITES if target.writes else FindingKind.READS, target.value)
        case TargetKind.COMMAND:
            return Finding(FindingKind.RUNS_CODE, target.value, "it was not analyzed")
        case TargetKind.ADDRESS:
            return Finding(FindingKind.NETWORK, target.value, "sends data" if target.writes else "")
        case TargetKind.NAME:
            return Finding(FindingKind.WRITES if target.writes else FindingKind.READS, target.value)


def explain(verdict: Verdict, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Explain a verdict to a newcomer, in lines: what was decided, what the call does, and why."""
    lines = [_OUTCOMES[verdict.effect]]
    lines += [f"  it {finding}" for finding in findings]
    lines += [f"  because {reason}" for reason in verdict.reasons]
    lines.append(f"  decided by: {verdict.rule}")
    lines.append(f"  from: {verdict.source}{_meaning(verdict.source)}")
    return tuple(lines)


def _meaning(source: str) -> str:
    return f" ({_SOURCES[source]})" if source in _SOURCES else ""


_SCOPES = {
    GrantScope.SESSION: "this session",
    GrantScope.PROJECT: "saved for this project",
    GrantScope.USER: "saved for all projects",
}


def offered_grants(action: Action, policy: Policy) -> tuple[Grant, ...]:
    """Return the grants to offer, narrowest first. None if one answer must not cover the next call."""
    return tuple(grant for grant in _offered(action, policy) if _would_apply(grant, action, policy))


def _would_apply(grant: Grant, action: Action, policy: Policy) -> bool:
    """Return whether the grant would avoid the next question.

    A stricter rule or a protection may override it.
    """
    if grant.scope is GrantScope.SESSION:
        return action.kind is not ToolKind.EDIT or _suffices(grant, action, policy)
    added = tuple(Rule(grant.key, pattern, Effect.ALLOW, grant.scope) for pattern in grant.patterns)
    # Saved rules go last in their file. A file that does not exist is created.
    files = {layer.name: replace(layer, rules=layer.effective) for layer in policy.layers}
    place = files.get(grant.scope, Layer(grant.scope, ()))
    files[grant.scope] = Layer(place.name, (*place.rules, *added))
    layers = tuple(files.values())
    return decide(action, replace(policy, layers=layers)).effect is Effect.ALLOW


def _offered(action: Action, policy: Policy) -> tuple[Grant, ...]:
    if action.command is not None:
        return _command_grants(action, action.command, policy)
    if not action.targets:
        return _tool_grants(action)
    if all(target.kind is TargetKind.PATH for target in action.targets):
        return _path_grants(action, policy)
    if len(action.targets) != 1:
        return ()
    target = action.targets[0]
    match target.kind:
        case TargetKind.COMMAND:
            return (Grant(action.permission, (target.value,), "this exact command, this session"),)
        case TargetKind.ADDRESS:
            return _address_grants(action, target, policy)
        case TargetKind.NAME | TargetKind.PATH:
            return (Grant(action.permission, (target.value,), f"{target.value}, this session"),)


def _command_grants(action: Action, command: ShellCommand, policy: Policy) -> tuple[Grant, ...]:
    if command.has_hidden_characters:
        # The text that was shown is not the one that would run again.
        return ()
    exact = Grant(action.permission, (command.text,), "this exact command, this session")
    patterns = _patterns(command)
    if not patterns or command.doubts:
        return (exact,)
    offered = _scoped(action.permission, patterns, " + ".join(patterns))
    return (exact, *(offered if _suffices(offered[0], action, policy) else ()))


def _patterns(command: ShellCommand) -> tuple[str, ...]:
    """Return a pattern for each part that needs one, or none at all if some part must not have any."""
    needed = [part for part in command.parts if not part.is_transparent]
    patterns = tuple(dict.fromkeys(pattern_for(part) for part in needed))
    has_doubts = any(part.doubts for part in command.parts)
    return () if has_doubts or "" in patterns else patterns


def _suffices(grant: Grant, action: Action, policy: Policy) -> bool:
    """Return whether the grant avoids the next question. For `echo x > f` it would not: f is asked about."""
    return decide(action, replace(policy, grants=(*policy.grants, grant))).effect is Effect.ALLOW


def _scoped(key: str, patterns: tuple[str, ...], words: str) -> tuple[Grant, ...]:
    return tuple(
        Grant(key, patterns, f"{words}  ·  {place}", GrantForm.GLOB, scope)
        for scope, place in _SCOPES.items()
    )


def _tool_grants(action: Action) -> tuple[Grant, ...]:
    # In settings, custom tools have a name of their own.
    key = action.permission if action.permission.startswith(CUSTOM) else action.tool
    tool = _scoped(key, (EVERYTHING,), f"every call of {action.tool}")
    parts = action.tool.split("__")
    if parts[0] != "mcp" or len(parts) < 3:
        return tool
    server = _scoped(f"mcp__{parts[1]}__*", (EVERYTHING,), f"every tool of the server {parts[1]}")
    return (*tool, *server)


def _address_grants(action: Action, target: Target, policy: Policy) -> tuple[Grant, ...]:
    if target.writes:
        # What is sent differs from call to call.
        return ()
    exact = Grant(action.permission, (target.value,), f"{target.value}, this session")
    parts = urlsplit(target.value)
    if not parts.hostname or "@" in parts.netloc:
        return (exact,)
    pattern = f"{parts.scheme}://{parts.netloc}/*"
    offered = _scoped(action.permission, (pattern,), pattern)
    return (exact, *(offered if _suffices(offered[0], action, policy) else ()))


def _path_grants(action: Action, policy: Policy) -> tuple[Grant, ...]:
    paths = tuple(dict.fromkeys(target.value for target in action.targets))
    roots = policy.boundaries.roots
    first = shown_path(paths[0], policy.boundaries)
    named = first if len(paths) == 1 else f"{first} and {len(paths) - 1} more, as listed"
    exact = Grant(action.permission, paths, f"{named}, this session")
    if any(is_secret(path) or not is_within(path, roots) for path in paths):
        return (exact,)
    held = tuple(root for root in roots if any(is_within(path, (root,)) for path in paths))
    label = f"every {action.permission} inside the workspace, this session"
    everywhere = Grant(action.permission, held, label, GrantForm.FOLDER)
    if not all(map(is_exact, paths)):
        # In a rule a star would stand for anything.
        return exact, everywhere
    kept = (
        Grant(action.permission, paths, f"{named}  ·  {place}", scope=scope)
        for scope, place in _SCOPES.items()
        if scope is not GrantScope.SESSION
    )
    return exact, everywhere, *kept
