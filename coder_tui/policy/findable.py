"""Which files a search may come upon: not those that a rule of somebody's keeps from being read."""

from collections.abc import Callable

from coder_tui.policy.action import DEFAULT_SOURCE, FLOOR_SOURCE, Action, Verdict
from coder_tui.policy.rules import EVERYTHING, Effect
from coder_tui.protocol.access import Target, TargetKind, ToolKind

READ = "read"
_ASKS_FOR_ALL = f" {EVERYTHING!r} = {Effect.ASK}"


def findable_by(decide_on: Callable[[Action], Verdict]) -> Callable[[str], bool]:
    """A judge of absolute paths. What asks for every file alike was asked for with the search itself."""

    def may_be_found(path: str) -> bool:
        verdict = decide_on(Action(READ, READ, ToolKind.READ, (Target(TargetKind.PATH, path),)))
        is_ruled = verdict.source not in (DEFAULT_SOURCE, FLOOR_SOURCE)
        return verdict.effect is Effect.ALLOW or not is_ruled or verdict.rule.endswith(_ASKS_FOR_ALL)

    return may_be_found
