"""The built-in profiles: what each has."""

from pathlib import Path

import pytest

from coder_tui.agent.profiles.profiles import built_in
from coder_tui.bootstrap.prepare import profile_mode
from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.errors import UsageError
from coder_tui.tools.base import Audience
from tests.architecture.test_tool_contract import tools
from tests.fakes.real_tools import setup_in

WRITING = {
    "write",
    "create_file",
    "mkdir",
    "edit",
    "patch",
    "apply_patch",
    "git_add",
    "git_commit",
    "bash_kill",
}
LOOKING = {
    "read",
    "read_many",
    "list",
    "glob",
    "grep",
    "outline",
    "git_status",
    "git_diff",
    "git_log",
    "fetch",
}
ASKING = {"question", "plan_exit"}
TODOS = {"todoread", "todowrite"}


def has(name: str, *, asks_everywhere: bool = False) -> set[str]:
    profile = built_in(asks_everywhere=asks_everywhere).get(name)
    return {tool.name for tool in tools() if profile.offers(tool.name, tool.kind)}


@pytest.mark.parametrize(
    ("name", "some", "none"),
    [
        ("build", WRITING | LOOKING | TODOS | {"bash", "task", "fork"}, ASKING),
        ("plan", LOOKING | TODOS | ASKING | {"bash", "task", "fork"}, WRITING),
        ("general", WRITING | LOOKING | {"bash", "task_finish"}, ASKING | TODOS),
        ("explore", LOOKING | {"task_finish"}, WRITING | ASKING | TODOS | {"bash", "task", "fork"}),
        (
            "verify",
            LOOKING | {"bash", "bash_kill", "task_finish"},
            (WRITING - {"bash_kill"}) | ASKING | TODOS,
        ),
    ],
)
def test_each_profile_has_what_it_is_for(name: str, some: set[str], none: set[str]) -> None:
    offered = has(name)
    assert (some - offered, none & offered) == (set(), set())


def test_questions_may_be_asked_everywhere() -> None:
    assert "question" in has("build", asks_everywhere=True)
    assert "plan_exit" not in has("build", asks_everywhere=True)


def test_without_the_flag_a_plan_is_simply_the_answer() -> None:
    plan = built_in(hands_over=False).get("plan")
    assert not plan.offers("plan_exit", ToolKind.THINK)
    assert "plan_exit" not in plan.prompt
    assert "plan_exit" in built_in().get("plan").prompt


def test_only_sub_agents_may_say_that_they_are_done() -> None:
    finish = next(tool for tool in tools() if tool.name == "task_finish")
    assert finish.audience is Audience.SUB


def test_only_what_starts_agents_or_asks_the_user_is_for_the_main_agent() -> None:
    main = {tool.name for tool in tools() if tool.audience is Audience.MAIN}
    assert main == {"task", "fork", "question", "plan_exit"}


@pytest.mark.parametrize(
    ("agent", "given", "result"),
    [
        ("build", None, None),
        ("plan", None, Mode.PLAN),
        ("plan", Mode.PLAN, Mode.PLAN),
        ("build", Mode.EDITS, Mode.EDITS),
    ],
)
def test_an_agent_may_choose_the_mode(agent: str, given: Mode | None, result: Mode | None) -> None:
    assert profile_mode(built_in(), agent, given) is result


@pytest.mark.parametrize(("agent", "given"), [("plan", Mode.EDITS), ("build", Mode.PLAN)])
def test_an_agent_and_a_mode_must_fit(agent: str, given: Mode) -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        profile_mode(built_in(), agent, given)


def test_the_setting_lets_questions_be_asked_always(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.toml").write_text('[agents]\nquestions = "always"\n')
    setup = setup_in(tmp_path, tmp_path / "project", Mode.ASK)
    question = next(tool for tool in tools() if tool.name == "question")
    assert setup.profiles.get("build").offers(question.name, question.kind)
