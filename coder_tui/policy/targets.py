"""The decision on one thing that a call touches: rules, the mode's default, floors, grants.

Defaults of each mode: what holds where no rule says otherwise.
"""

from dataclasses import replace

from coder_tui.policy.addresses import Reach, reach_of_url
from coder_tui.policy.model import DEFAULT_SOURCE, FLOOR_SOURCE, Action, Policy, Verdict, floor, granted
from coder_tui.policy.paths import (
    is_git_internal,
    is_own_configuration,
    is_personal,
    is_program_file,
    is_secret,
    is_within,
    shown_path,
)
from coder_tui.policy.rules import (
    EVERYTHING,
    Effect,
    Layer,
    Rule,
    address_matches,
    key_matches,
    names_host,
    pattern_matches,
    rule_matches,
    strictest,
)
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm

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


EXTERNAL = "external_directory"
OTHER_PROVIDER = "model of another provider: "
"""Stands before a model's name where a call would send the project to somebody else than the session does."""
MEMORY = "memory"


def decide_target(action: Action, target: Target | None, policy: Policy) -> Verdict:
    """Rules, else the mode's default; then the floors, which nothing lowers; last the person's grants."""
    verdict = _by_rules(action, target, policy) or by_default(action, policy)
    for protection in _floors(action, target, policy):
        # Also on a tie: what is protected needs a grant of its own name, and this is the better reason.
        if protection.effect.strictness >= verdict.effect.strictness:
            verdict = protection
    if verdict.effect is Effect.ASK and (grant := _granted(action, target, verdict, policy)):
        return granted(grant)
    return verdict


def by_default(action: Action, policy: Policy) -> Verdict:
    effect, reason = _default(action, policy.mode)
    kind = "foreign" if action.is_foreign else action.kind
    return Verdict(effect, f"default for {kind} tools", DEFAULT_SOURCE, (reason,))


def _default(action: Action, mode: Mode) -> tuple[Effect, str]:
    """A foreign tool is neither the kind that it claims to be nor the one whose name it may bear."""
    if action.is_foreign:
        return default_effect("", ToolKind.OTHER, mode)
    return default_effect(action.tool, action.kind, mode)


def by_rule(rule: Rule) -> Verdict:
    return Verdict(rule.effect, str(rule), rule.source, (f"the rule {rule} says so",))


def _by_rules(action: Action, target: Target | None, policy: Policy) -> Verdict | None:
    matches = [rule for layer in policy.layers if (rule := _last_match(layer, action, target, policy))]
    default, _ = _default(action, policy.mode)
    if default is not _default(action, Mode.ASK)[0]:
        matches = [rule for rule in matches if not rule.yields_to_mode]
    found = strictest(matches)
    is_denied = found is not None and found.effect is Effect.DENY
    if policy.mode is Mode.PLAN and default is Effect.DENY and not is_denied:
        # Plan mode is a layer of its own: a rule that allows cannot outweigh it.
        return Verdict(Effect.DENY, "plan mode = deny", "plan mode", ("plan mode changes nothing",))
    return by_rule(found) if found else None


def _last_match(layer: Layer, action: Action, target: Target | None, policy: Policy) -> Rule | None:
    shown = _shown(target, policy)
    matches = [rule for rule in layer.effective if rule_matches(rule, action.keys, target, shown)]
    if not matches or not matches[-1].yields_to_mode:
        return layer.says(matches[-1] if matches else None)
    return strictest(rule for rule in reversed(matches) if rule.effect is Effect.ASK)


def _shown(target: Target | None, policy: Policy) -> str:
    if target is None:
        return ""
    if target.kind is TargetKind.PATH:
        return shown_path(target.value, policy.boundaries)
    return target.value


def _floors(action: Action, target: Target | None, policy: Policy) -> list[Verdict]:
    """Protections: repository internals, our own files, secrets, everything outside, this machine's net."""
    if target is not None and target.kind is TargetKind.ADDRESS:
        return _address_floors(action, target, policy)
    if target is not None and action.permission == MEMORY and target.kind is TargetKind.NAME:
        # They hold in every folder: a project that lets its own file be written has no say in them.
        return [floor(Effect.ASK, "own instructions", "every later session reads your own instructions")]
    if target is not None and target.value.startswith(OTHER_PROVIDER):
        return [floor(Effect.ASK, "other providers", f"it would send what it reads to a {target.value}")]
    if target is None or target.kind is not TargetKind.PATH:
        return []
    path, boundaries, found = target.value, policy.boundaries, []
    if target.writes and is_git_internal(path):
        found.append(floor(Effect.DENY, ".git", f"{path} belongs to git's own files"))
    if target.writes and is_own_configuration(path, boundaries):
        found.append(floor(Effect.DENY, "own configuration", f"{path} is this program's own configuration"))
    if target.writes and is_personal(path, boundaries):
        reason = f"the workspace contains your home folder, and {path} is hidden there or lies outside of it"
        found.append(floor(Effect.ASK, "home folder", reason))
    if target.writes and is_program_file(path, boundaries):
        reason = f"{path} can make other programs run code or give them permissions"
        found.append(floor(Effect.ASK, "files of other programs", reason))
    if is_secret(path):
        found.append(floor(Effect.ASK, "secrets", f"{path} looks like a secret"))
    if not is_within(path, boundaries.roots) and (target.writes or not is_within(path, boundaries.readable)):
        found.append(_external(action, target, policy))
    return found


def _address_floors(action: Action, target: Target, policy: Policy) -> list[Verdict]:
    """A rule for the whole net does not speak of this machine or its neighbours; one with their host does."""
    found = []
    reach = reach_of_url(target.value)
    if reach.is_forbidden:
        found.append(floor(Effect.DENY, f"{reach} addresses", f"{target.value} is a {reach} address"))
    elif reach is not Reach.PUBLIC and not _is_host_named(action, target, policy):
        found.append(floor(Effect.ASK, f"{reach} addresses", f"{target.value} is a {reach} address"))
    if target.writes and policy.mode is Mode.PLAN:
        found.append(floor(Effect.DENY, "plan mode", "plan mode changes nothing, elsewhere neither"))
    return found


def _is_host_named(action: Action, target: Target, policy: Policy) -> bool:
    rules = [rule for layer in policy.layers if (rule := _last_match(layer, action, target, policy))]
    return bool(rules) and all(names_host(rule.pattern, target.value) for rule in rules)


def _external(action: Action, target: Target, policy: Policy) -> Verdict:
    outside = replace(action, tool=EXTERNAL, permission=EXTERNAL)
    named = (_only(layer, EXTERNAL) for layer in policy.layers)
    rules = [rule for layer in named if (rule := _last_match(layer, outside, target, policy))]
    if rules:
        rule = max(rules, key=lambda match: match.effect.strictness)
        return Verdict(rule.effect, str(rule), rule.source, (f"{target.value} is outside the workspace",))
    return floor(Effect.ASK, EXTERNAL, f"{target.value} is outside the workspace")


def _only(layer: Layer, key: str) -> Layer:
    return replace(layer, rules=tuple(rule for rule in layer.rules if rule.key == key))


def _granted(action: Action, target: Target | None, verdict: Verdict, policy: Policy) -> Grant | None:
    """A grant for a folder does not reach what is protected in it: that wants its own name."""
    if target is not None and target.kind is TargetKind.ADDRESS and target.writes:
        # What is sent differs from call to call, and an address does not tell.
        return None
    for grant in policy.grants:
        if any(key_matches(grant.key, key) for key in action.keys) and _covers(grant, target, verdict):
            return grant
    return None


def _covers(grant: Grant, target: Target | None, verdict: Verdict) -> bool:
    is_protected = verdict.source == FLOOR_SOURCE
    match grant.form:
        case GrantForm.EXACT:
            return target is not None and target.value in grant.patterns
        case GrantForm.FOLDER:
            is_path = target is not None and target.kind is TargetKind.PATH
            return (
                target is not None
                and is_path
                and not is_protected
                and is_within(target.value, grant.patterns)
            )
        case GrantForm.GLOB if target is None:
            return EVERYTHING in grant.patterns
        case GrantForm.GLOB:
            is_covered = target is not None and any(_reaches(pattern, target) for pattern in grant.patterns)
            return is_covered and not is_protected


def _reaches(pattern: str, target: Target) -> bool:
    """Paths and commands have grants of their own form."""
    match target.kind:
        case TargetKind.ADDRESS:
            return address_matches(pattern, target.value, strictly=True)
        case TargetKind.NAME:
            return pattern_matches(pattern, target.value)
        case TargetKind.PATH | TargetKind.COMMAND:
            return False
