"""A verdict in words that a newcomer understands: what the call does, what was decided, and why."""

from coder_tui.policy.model import DEFAULT_SOURCE, FLOOR_SOURCE, SESSION_SOURCE, Action, Verdict
from coder_tui.policy.rules import Effect
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.findings import Finding, FindingKind

_OUTCOMES = {
    Effect.ALLOW: "ALLOW: this call runs without asking.",
    Effect.ASK: "ASK: this call runs only when you say yes.",
    Effect.DENY: "DENY: this call is refused.",
}
_SOURCES = {
    DEFAULT_SOURCE: "what holds where no rule of yours says otherwise",
    FLOOR_SOURCE: "a protection that no rule can switch off",
    SESSION_SOURCE: "your own answer in this session",
}


def findings_of(action: Action) -> tuple[Finding, ...]:
    """What the call was found to do: from the command's analysis, else from what the tool declared."""
    if action.command is not None:
        return action.command.findings
    return tuple(_found(target) for target in action.targets)


def _found(target: Target) -> Finding:
    match target.kind:
        case TargetKind.PATH:
            return Finding(FindingKind.WRITES if target.writes else FindingKind.READS, target.value)
        case TargetKind.COMMAND:
            return Finding(FindingKind.RUNS_CODE, target.value, "it was not taken apart")
        case TargetKind.ADDRESS:
            return Finding(FindingKind.NETWORK, target.value, "sends data" if target.writes else "")
        case TargetKind.NAME:
            return Finding(FindingKind.WRITES if target.writes else FindingKind.READS, target.value)


def explain(verdict: Verdict, findings: tuple[Finding, ...]) -> tuple[str, ...]:
    """Line by line."""
    lines = [_OUTCOMES[verdict.effect]]
    lines += [f"  it {finding}" for finding in findings]
    lines += [f"  because {reason}" for reason in verdict.reasons]
    lines.append(f"  decided by: {verdict.rule}")
    lines.append(f"  from: {verdict.source}{_meaning(verdict.source)}")
    return tuple(lines)


def _meaning(source: str) -> str:
    return f" ({_SOURCES[source]})" if source in _SOURCES else ""
