"""Which files a search may come upon: not those that a rule of somebody's keeps from being read."""

from collections.abc import Callable

from coder_tui.policy.model import DEFAULT_SOURCE, FLOOR_SOURCE, Action, Verdict
from coder_tui.policy.rules import EVERYTHING, Effect
from coder_tui.protocol.access import Target, TargetKind, ToolKind

READ = "read"
_ASKS_FOR_ALL = f" {EVERYTHING!r} = {Effect.ASK}"


def findable_by(decide_on: Callable[[Action], Verdict]) -> Callable[[str], bool]:
    """Return a judge of absolute paths. What asks for every file was asked for with the search itself."""
    return lambda path: not is_kept(decide_on(reading(path)))


def reading(path: str) -> Action:
    return Action(READ, READ, ToolKind.READ, (Target(TargetKind.PATH, path),))


def is_kept(verdict: Verdict) -> bool:
    """Return whether a rule for this very file, or some like it, keeps it from being read unasked."""
    is_ruled = verdict.source not in (DEFAULT_SOURCE, FLOOR_SOURCE)
    return verdict.effect is not Effect.ALLOW and is_ruled and not verdict.rule.endswith(_ASKS_FOR_ALL)
