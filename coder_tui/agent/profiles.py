"""Profiles: who works, with which tools, under which rules, as data."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from coder_tui.policy.rules import Rule
from coder_tui.protocol.access import ToolKind

BUILT_IN = "built in"
KIND_PREFIX = "kind:"


class ProfileMode(StrEnum):
    """Where a profile may be used."""

    PRIMARY = "primary"
    SUB = "sub"
    ALL = "all"

    @property
    def leads(self) -> bool:
        return self is not ProfileMode.SUB

    @property
    def serves(self) -> bool:
        """Whether `task` and `fork` may start it."""
        return self is not ProfileMode.PRIMARY


@dataclass(frozen=True, slots=True)
class Switch:
    """`pattern` is a tool's name, a glob over names, or `kind:` with a kind."""

    pattern: str
    is_on: bool

    def speaks_of(self, name: str, kind: ToolKind) -> bool:
        if self.pattern.startswith(KIND_PREFIX):
            return self.pattern.removeprefix(KIND_PREFIX) == kind
        return fnmatchcase(name, self.pattern)


@dataclass(frozen=True, slots=True)
class Profile:
    """`rules` are a policy layer of their own; an empty `model` is the session's."""

    name: str
    description: str
    mode: ProfileMode
    prompt: str
    """What the model is told of its part; goes before everything else."""
    switches: tuple[Switch, ...] = ()
    rules: tuple[Rule, ...] = ()
    model: str = ""
    max_steps: int | None = None
    max_minutes: float | None = None
    source: str = field(default=BUILT_IN)
    """The file that it comes from."""

    def offers(self, name: str, kind: ToolKind) -> bool:
        """Whether the model sees this tool. The last switch that speaks of it counts; none means yes."""
        spoken = [switch.is_on for switch in self.switches if switch.speaks_of(name, kind)]
        return spoken[-1] if spoken else True


class Profiles:
    """All known profiles by name; of one name the later source holds."""

    def __init__(self, profiles: Iterable[Profile]) -> None:
        self._by_name = {profile.name: profile for profile in profiles}

    @property
    def all(self) -> tuple[Profile, ...]:
        return tuple(self._by_name.values())

    @property
    def leading(self) -> tuple[Profile, ...]:
        return tuple(profile for profile in self.all if profile.mode.leads)

    @property
    def serving(self) -> tuple[Profile, ...]:
        """Those that `task` and `fork` may name."""
        return tuple(profile for profile in self.all if profile.mode.serves)

    def find(self, name: str) -> Profile | None:
        return self._by_name.get(name)
