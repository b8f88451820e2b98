"""The profiles that come with the program."""

from functools import cache
from importlib.resources import files

from coder_tui.agent.profiles import KIND_PREFIX, Profile, ProfileMode, Profiles, Switch
from coder_tui.protocol.access import ToolKind

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
        "Reads, edits and runs; asks where your rules say so",
        ProfileMode.PRIMARY,
        prompt_text(BUILD),
        off("plan_exit") if asks_everywhere else off("question", "plan_exit"),
    )


def _plan(hands_over: bool) -> Profile:
    """What it hides is denied as well, by plan mode itself: a file that redefines it loosens nothing."""
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
