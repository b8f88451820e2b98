"""What a decision is about, what it rests on, and how it comes out."""

from dataclasses import dataclass, field

from coder_tui.policy.command import ShellCommand
from coder_tui.policy.paths import Boundaries
from coder_tui.policy.rules import Effect, Layer
from coder_tui.protocol.access import Mode, Target, ToolKind
from coder_tui.protocol.requests import Grant

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
    is_foreign: bool = False
    """The tool comes from a server or a discovering command: what it says of itself permits nothing."""

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


def floor(effect: Effect, name: str, *reasons: str) -> Verdict:
    """A protection that no rule lowers."""
    return Verdict(effect, f"{name} = {effect}", FLOOR_SOURCE, reasons)


def granted(grant: Grant) -> Verdict:
    rule = f"{grant.key} {', '.join(map(repr, grant.patterns))} = allow"
    return Verdict(Effect.ALLOW, rule, SESSION_SOURCE, (grant.label,))
