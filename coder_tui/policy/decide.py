"""The one decision: may this call run, must it be asked, is it forbidden — and why."""

from dataclasses import dataclass, field, replace

from coder_tui.policy.address_patterns import names_host
from coder_tui.policy.addresses import Reach, reach_of_url
from coder_tui.policy.modes import default_effect
from coder_tui.policy.paths import (
    Boundaries,
    is_git_internal,
    is_own_configuration,
    is_within,
    shown_path,
)
from coder_tui.policy.rules import EVERYTHING, Effect, Layer, Rule, rule_matches
from coder_tui.policy.secrets import is_secret
from coder_tui.policy.shell_command import ShellCommand
from coder_tui.protocol.access import Mode, Target, TargetKind, ToolKind
from coder_tui.protocol.requests import Grant, GrantForm

EXTERNAL = "external_directory"
DEFAULT_SOURCE = "built-in defaults"
FLOOR_SOURCE = "built-in protection"
SESSION_SOURCE = "this session"


@dataclass(frozen=True, slots=True)
class Action:
    """A call as policy sees it; `permission` is the settings key of the tool's group."""

    tool: str
    permission: str
    kind: ToolKind
    targets: tuple[Target, ...] = ()
    command: ShellCommand | None = None
    """What was found in a command; a command target without it is not understood."""

    @property
    def keys(self) -> frozenset[str]:
        return frozenset({self.tool, self.permission})


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything a decision depends on besides the action."""

    boundaries: Boundaries
    mode: Mode = Mode.ASK
    layers: tuple[Layer, ...] = ()
    grants: tuple[Grant, ...] = ()
    is_sandboxed: bool = False
    """Whether commands run confined, which is what mode `auto` rests on."""


@dataclass(frozen=True, slots=True)
class Verdict:
    effect: Effect
    rule: str
    source: str
    reasons: tuple[str, ...] = field(default=())


def decide(action: Action, policy: Policy) -> Verdict:
    """The strictest verdict over all that the call touches."""
    verdicts = [_decide_target(action, target, policy) for target in action.targets or (None,)]
    strictest = max(verdicts, key=lambda verdict: verdict.effect.strictness)
    reasons = dict.fromkeys(
        reason for verdict in verdicts if verdict.effect is strictest.effect for reason in verdict.reasons
    )
    return replace(strictest, reasons=tuple(reasons))


def _decide_target(action: Action, target: Target | None, policy: Policy) -> Verdict:
    """Rules, else the mode's default; then the floors, which nothing lowers; last the person's grants."""
    verdict = _by_rules(action, target, policy) or _by_default(action, policy)
    for floor in _floors(action, target, policy):
        # Also on a tie: what is protected needs a grant of its own name, and this is the better reason.
        if floor.effect.strictness >= verdict.effect.strictness:
            verdict = floor
    if verdict.effect is Effect.ASK and (grant := _granted(action, target, verdict, policy)):
        rule = f"{grant.key} {', '.join(map(repr, grant.patterns))} = allow"
        return Verdict(Effect.ALLOW, rule, SESSION_SOURCE, (grant.label,))
    return verdict


def _by_default(action: Action, policy: Policy) -> Verdict:
    effect, reason = default_effect(action.tool, action.kind, policy.mode)
    return Verdict(effect, f"default for {action.kind} tools", DEFAULT_SOURCE, (reason,))


def _by_rules(action: Action, target: Target | None, policy: Policy) -> Verdict | None:
    matches = [rule for layer in policy.layers if (rule := _last_match(layer, action, target, policy))]
    default, _ = default_effect(action.tool, action.kind, policy.mode)
    if policy.mode is Mode.PLAN and default is Effect.DENY:
        # Plan mode is a layer of its own: a rule that allows cannot outweigh it.
        matches.append(Rule(action.tool, EVERYTHING, Effect.DENY, "plan mode"))
    if not matches:
        return None
    rule = max(matches, key=lambda match: match.effect.strictness)
    return Verdict(rule.effect, str(rule), rule.source, (f"the rule {rule} says so",))


def _last_match(layer: Layer, action: Action, target: Target | None, policy: Policy) -> Rule | None:
    shown = _shown(target, policy)
    matches = [rule for rule in layer.rules if rule_matches(rule, action.keys, target, shown)]
    return matches[-1] if matches else None


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
    if target is None or target.kind is not TargetKind.PATH:
        return []
    path, boundaries, found = target.value, policy.boundaries, []
    if target.writes and is_git_internal(path):
        found.append(_floor(Effect.DENY, ".git", f"{path} belongs to git's own files"))
    if target.writes and is_own_configuration(path, boundaries):
        found.append(_floor(Effect.DENY, "own configuration", f"{path} is this program's own configuration"))
    if is_secret(path):
        found.append(_floor(Effect.ASK, "secrets", f"{path} looks like a secret"))
    if not is_within(path, boundaries.roots) and (target.writes or not is_within(path, boundaries.readable)):
        found.append(_external(action, target, policy))
    return found


def _address_floors(action: Action, target: Target, policy: Policy) -> list[Verdict]:
    """A rule for the whole net does not speak of this machine or its neighbours; one with their host does."""
    found = []
    reach = reach_of_url(target.value)
    if reach.is_forbidden:
        found.append(_floor(Effect.DENY, f"{reach} addresses", f"{target.value} is a {reach} address"))
    elif reach is not Reach.PUBLIC and not _is_host_named(action, target, policy):
        found.append(_floor(Effect.ASK, f"{reach} addresses", f"{target.value} is a {reach} address"))
    if target.writes and policy.mode is Mode.PLAN:
        found.append(_floor(Effect.DENY, "plan mode", "plan mode changes nothing, elsewhere neither"))
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
    return _floor(Effect.ASK, EXTERNAL, f"{target.value} is outside the workspace")


def _only(layer: Layer, key: str) -> Layer:
    return Layer(layer.name, tuple(rule for rule in layer.rules if rule.key == key))


def _floor(effect: Effect, name: str, reason: str) -> Verdict:
    return Verdict(effect, f"{name} = {effect}", FLOOR_SOURCE, (reason,))


def _granted(action: Action, target: Target | None, verdict: Verdict, policy: Policy) -> Grant | None:
    """A grant for a folder does not reach what is protected in it: that wants its own name."""
    if target is None or (target.kind is TargetKind.ADDRESS and target.writes):
        # What is sent differs from call to call, and an address does not tell.
        return None
    for grant in policy.grants:
        if grant.form is GrantForm.FOLDER:
            is_path = target.kind is TargetKind.PATH and verdict.source != FLOOR_SOURCE
            matches = is_path and is_within(target.value, grant.patterns)
        else:
            matches = grant.form is GrantForm.EXACT and target.value in grant.patterns
        if matches and grant.key in action.keys:
            return grant
    return None
