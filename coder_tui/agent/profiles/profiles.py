"""Profiles: who works, with which tools, under which rules, as data.

The profiles that come with the program.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

from rapidfuzz import process

from coder_tui.policy.rules import Layer, Rule
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.errors import UsageError

BUILT_IN = "built in"
KIND_PREFIX = "kind:"
# A sub-agent that could not end would be of no use, whatever its tools are.
_ALWAYS = frozenset({"task_finish"})


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

    def matches(self, name: str, kind: ToolKind) -> bool:
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
    """The model's role; comes before everything else in the prompt."""
    switches: tuple[Switch, ...] = ()
    rules: tuple[Rule, ...] = ()
    model: str = ""
    max_steps: int | None = None
    max_minutes: float | None = None
    source: str = field(default=BUILT_IN)
    """The file that it comes from."""

    @property
    def layer(self) -> Layer:
        """Its rules, in addition to the user's and the project's: they can only make things stricter."""
        return Layer(f"agent {self.name}", self.rules, only_tightens=True)

    def offers(self, name: str, kind: ToolKind) -> bool:
        """Return whether the model sees this tool: the last switch that names it counts; none means yes."""
        if name in _ALWAYS:
            return True
        spoken = [switch.is_on for switch in self.switches if switch.matches(name, kind)]
        return spoken[-1] if spoken else True


class Profiles:
    """All known profiles by name; of two with one name the later source wins."""

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

    def get(self, name: str) -> Profile:
        """`UsageError` names the nearest ones."""
        profile = self._by_name.get(name)
        if profile is None:
            raise UsageError(f"there is no agent {name!r}{self._hint(name)}")
        return profile

    def leader(self, name: str) -> Profile:
        """As `get`, for one that the user talks to."""
        profile = self.get(name)
        if not profile.mode.leads:
            raise UsageError(f"{name} is a sub-agent: other agents start it, a session cannot run as it")
        return profile

    def with_more(self, profiles: Iterable[Profile]) -> "Profiles":
        return Profiles((*self.all, *profiles))

    def _hint(self, name: str) -> str:
        near = [match for match, _, _ in process.extract(name, list(self._by_name), limit=2, score_cutoff=50)]
        return f"; did you mean {' or '.join(near)}?" if near else f"; there are {', '.join(self._by_name)}"


BUILD = "build"
PLAN = "plan"
GENERAL = "general"
EXPLORE = "explore"
VERIFY = "verify"

_CHANGING = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)


@cache
def prompt_text(name: str) -> str:
    return files("coder_tui.agent").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").strip()


def off(*patterns: str) -> tuple[Switch, ...]:
    return tuple(Switch(pattern, is_on=False) for pattern in patterns)


def on(*patterns: str) -> tuple[Switch, ...]:
    return tuple(Switch(pattern, is_on=True) for pattern in patterns)


def kinds(*given: ToolKind) -> tuple[str, ...]:
    return tuple(f"{KIND_PREFIX}{kind}" for kind in given)


def built_in(*, asks_everywhere: bool = False, hands_over: bool = True) -> Profiles:
    """`asks_everywhere`: questions also outside of plan mode; `hands_over`: a plan is put to approval."""
    return Profiles((_build(asks_everywhere), _plan(hands_over), _general(), _explore(), _verify()))


def _build(asks_everywhere: bool) -> Profile:
    return Profile(
        BUILD,
        "Reads, edits and runs; asks if your rules say so",
        ProfileMode.PRIMARY,
        prompt_text(BUILD),
        off("plan_exit") if asks_everywhere else off("question", "plan_exit"),
    )


def _plan(hands_over: bool) -> Profile:
    """Plan mode itself denies what this profile hides: a file that redefines it loosens nothing."""
    changing = off(*kinds(*_CHANGING, ToolKind.EXECUTE, ToolKind.OTHER))
    return Profile(
        PLAN,
        "Reads, asks and makes a plan; changes nothing",
        ProfileMode.PRIMARY,
        f"{prompt_text(PLAN)}\n{prompt_text(f'{PLAN}_handed_over' if hands_over else f'{PLAN}_answered')}",
        (*changing, *on("bash", "task", "fork", "batch"), *(() if hands_over else off("plan_exit"))),
    )


def _general() -> Profile:
    return Profile(
        GENERAL,
        "Carries out one task of several steps by itself: searching, editing and running",
        ProfileMode.SUB,
        prompt_text(GENERAL),
        off("question", "plan_exit", "todoread", "todowrite"),
    )


def _explore() -> Profile:
    changing = off(*kinds(*_CHANGING, ToolKind.EXECUTE, ToolKind.OTHER))
    return Profile(
        EXPLORE,
        "Finds things out in the code, reading and searching only; give it a question",
        ProfileMode.SUB,
        prompt_text(EXPLORE),
        (*changing, *off("question", "plan_exit", "todoread", "todowrite"), *on("batch")),
    )


def _verify() -> Profile:
    return Profile(
        VERIFY,
        "Checks work that was done: runs tests and linters, reads the change, edits nothing",
        ProfileMode.SUB,
        prompt_text(VERIFY),
        (
            *off(*kinds(*_CHANGING, ToolKind.OTHER)),
            *off("git_add", "git_commit", "question", "plan_exit", "todoread", "todowrite"),
            *on("batch"),
        ),
    )
