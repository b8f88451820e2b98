"""Decide on one target of a call: rules, the default of the mode, protections, grants.

`Action` and `Policy` are the input of a decision, `Verdict` is its result.
"""

from dataclasses import dataclass, field, replace

from coder_tui.policy.addresses import Reach, reach_of_url
from coder_tui.policy.command import ShellCommand
from coder_tui.policy.paths import (
    Boundaries,
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

DEFAULT_SOURCE = "built-in defaults"
FLOOR_SOURCE = "built-in protection"
SESSION_SOURCE = "this session"


@dataclass(frozen=True, slots=True)
class Action:
    """A call as policy sees it. `permission` is the settings key of the tool's group."""

    tool: str
    permission: str
    kind: ToolKind
    targets: tuple[Target, ...] = ()
    command: ShellCommand | None = None
    """The analysis of a command. A command target without one was not understood."""
    is_foreign: bool = False
    """Whether the tool comes from a server or a discovery command. What it declares permits nothing."""

    @property
    def keys(self) -> frozenset[str]:
        return frozenset({self.tool, self.permission})


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that a decision depends on besides the action."""

    boundaries: Boundaries
    mode: Mode = Mode.ASK
    layers: tuple[Layer, ...] = ()
    grants: tuple[Grant, ...] = ()
    is_sandboxed: bool = False
    """Whether commands run confined, which mode `auto` requires."""


@dataclass(frozen=True, slots=True)
class Verdict:
    effect: Effect
    rule: str
    source: str
    reasons: tuple[str, ...] = field(default=())


def floor(effect: Effect, name: str, *reasons: str) -> Verdict:
    """Return the verdict of a protection that no rule can lower."""
    return Verdict(effect, f"{name} = {effect}", FLOOR_SOURCE, reasons)


def granted(grant: Grant) -> Verdict:
    rule = f"{grant.key} {', '.join(map(repr, grant.patterns))} = allow"
    return Verdict(Effect.ALLOW, rule, SESSION_SOURCE, (grant.label,))


_QUIET_KINDS = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK})
# `bash_kill` only ends what this session started with approval.
_QUIET_TOOLS = frozenset({"git_status", "git_diff", "git_log", "task", "fork", "batch", "bash_kill"})
_EDIT_KINDS = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
# Every later session reads what `memory` writes.
_ASKING_TOOLS = frozenset({"websearch", "memory"})


def default_effect(tool: str, kind: ToolKind, mode: Mode) -> tuple[Effect, str]:
    """Return the effect for a call that no rule covers, and the sentence that explains it."""
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
"""The prefix of a model's name if a call would send the project to another provider than the session's."""
MEMORY = "memory"


def decide_target(action: Action, target: Target | None, policy: Policy) -> Verdict:
    """Apply rules or the mode's default, then protections, which nothing lowers, then the user's grants."""
    verdict = _by_rules(action, target, policy) or by_default(action, policy)
    for protection in _floors(action, target, policy):
        # Also on a tie: what is protected needs a grant for itself, and this is the better reason.
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
    """Return the default. What a foreign tool claims to be, by kind or name, does not count."""
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
        # Plan mode is a layer of its own: a rule that allows cannot override it.
        return Verdict(Effect.DENY, "plan mode = deny", "plan mode", ("plan mode changes nothing",))
    return by_rule(found) if found else None


def _last_match(layer: Layer, action: Action, target: Target | None, policy: Policy) -> Rule | None:
    shown = _shown(target, policy)
    matches = [rule for rule in layer.effective if rule_matches(rule, action.keys, target, shown)]
    if not matches or not matches[-1].yields_to_mode:
        return layer.effective_match(matches[-1] if matches else None)
    return strictest(rule for rule in reversed(matches) if rule.effect is Effect.ASK)


def _shown(target: Target | None, policy: Policy) -> str:
    if target is None:
        return ""
    if target.kind is TargetKind.PATH:
        return shown_path(target.value, policy.boundaries)
    return target.value


def _floors(action: Action, target: Target | None, policy: Policy) -> list[Verdict]:
    """Return the protections: git internals, our own files, secrets, paths outside, local addresses."""
    if target is not None and target.kind is TargetKind.ADDRESS:
        return _address_floors(action, target, policy)
    if target is not None and action.permission == MEMORY and target.kind is TargetKind.NAME:
        # The user's own instructions apply in every folder, so a project cannot allow writing them.
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
        reason = f"the workspace contains your home folder, and {path} is hidden in it or lies outside"
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
    """Protect this machine and its network. Only a rule that names the host lowers this."""
    found = []
    reach = reach_of_url(target.value)
    if reach.is_forbidden:
        found.append(floor(Effect.DENY, f"{reach} addresses", f"{target.value} is a {reach} address"))
    elif reach is not Reach.PUBLIC and not _is_host_named(action, target, policy):
        found.append(floor(Effect.ASK, f"{reach} addresses", f"{target.value} is a {reach} address"))
    if target.writes and policy.mode is Mode.PLAN:
        found.append(floor(Effect.DENY, "plan mode", "plan mode changes nothing, on other machines either"))
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
    """Find a grant for the target. A grant for a folder does not cover what is protected in it."""
    if target is not None and target.kind is TargetKind.ADDRESS and target.writes:
        # What is sent differs from call to call, and the address does not show it.
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
    """Match a pattern by the kind of target. Paths and commands have other forms of grants."""
    match target.kind:
        case TargetKind.ADDRESS:
            return address_matches(pattern, target.value, strictly=True)
        case TargetKind.NAME:
            return pattern_matches(pattern, target.value)
        case TargetKind.PATH | TargetKind.COMMAND:
            return False
