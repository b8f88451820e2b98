"""The `skill` tool through the real runner: loads by name, its folder readable then, denied ones hidden."""

import json
from pathlib import Path

import pytest

from coder_tui.bootstrap.prepare import load_setup
from coder_tui.config.paths import find_directories
from coder_tui.config.sources import find_sources
from coder_tui.protocol.access import Mode
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.skills.discover import Root
from coder_tui.skills.skill import SkillSource
from coder_tui.tools.builtin.skill import ALREADY, MOST_CHOICES, SkillTool
from coder_tui.tools.registry import definition_of
from tests.fakes.real_tools import ALLOW, RealTools
from tests.fakes.skill_files import put_skill, session_skills_of


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "config").mkdir()
    (tmp_path / "project").mkdir()
    return tmp_path / "config"


def tools(config: Path, mode: Mode = Mode.ASK) -> RealTools:
    project = config.parent / "project"
    environ = {
        f"CODER_TUI_{name}_DIR": str(config.parent / name.lower()) for name in ("DATA", "CONFIG", "CACHE")
    }
    directories = find_directories(environ)
    sources = find_sources(directories, project, environ, {}, None)
    return RealTools(load_setup(project, directories, sources, environ, mode))


async def test_a_loaded_skill_and_then_its_files(config: Path) -> None:
    folder = put_skill(config / "skills", "deploy", body="Read notes.md.")
    (folder / "notes.md").write_text("first stop the old one\n")
    (folder / ".env").write_text("TOKEN=x\n")
    other = put_skill(config / "skills", "other")
    bench = tools(config)

    before = await bench.outcome("read", path=str(folder / "notes.md"))
    loaded = await bench.call("skill", action="load", name="deploy")
    after = await bench.call("read", path=str(folder / "notes.md"))

    assert before == "permission_denied"
    assert loaded == {
        "ok": True,
        "name": "deploy",
        "content": loaded["content"],
        "directory": str(folder),
        "files": [".env", "notes.md"],
    }
    assert loaded["content"].startswith(f'<skill name="deploy" directory="{folder}">\nRead notes.md.\n')
    assert after["content"] == "first stop the old one"
    assert await bench.outcome("read", path=str(folder / ".env")) == "permission_denied"
    assert await bench.outcome("read", path=str(other / "SKILL.md")) == "permission_denied"
    assert await bench.outcome("write", path=str(folder / "new.md"), content="x") == "permission_denied"


async def test_the_second_load_says_that_it_is_loaded(config: Path) -> None:
    bench = tools(config)
    await bench.call("skill", action="load", name="debug")

    assert (await bench.call("skill", action="load", name="debug"))["content"] == ALREADY


async def test_a_skill_of_ones_own_takes_the_place_of_a_built_in_one(config: Path) -> None:
    put_skill(config / "skills", "debug", "My way.", "Ask the duck.")
    bench = tools(config)

    listed = await bench.call("skill", action="list")
    loaded = await bench.call("skill", action="load", name="debug")

    assert {"name": "debug", "source": "user", "description": "My way."} in listed["skills"]
    assert "Ask the duck." in loaded["content"]


@pytest.mark.parametrize(
    "name", ["../debug", "/etc/passwd", "debug/../debug", "debug/SKILL.md", "", "Debug", "x" * 9_999]
)
async def test_a_name_that_is_none_is_refused_with_the_nearest(config: Path, name: str) -> None:
    result = await tools(config).call("skill", action="load", name=name)

    assert result["error"]["type"] == "invalid_tool_params"
    assert result["error"]["hint"].startswith("The nearest are: ")
    assert len(result["error"]["message"]) < 200


async def test_load_without_a_name_and_unknown_actions(config: Path) -> None:
    bench = tools(config)
    assert await bench.outcome("skill", action="load") == "invalid_tool_params"
    assert await bench.outcome("skill", action="delete", name="debug") == "invalid_tool_params"


async def test_what_a_rule_denies_is_hidden_and_refused(config: Path) -> None:
    put_skill(config / "skills", "deploy-prod")
    put_skill(config / "skills", "deploy-test")
    (config / "config.toml").write_text('[permission.skill]\n"deploy*" = "deny"\n"deploy-test" = "ask"\n')
    bench = tools(config)

    listed = [skill["name"] for skill in (await bench.call("skill", action="list"))["skills"]]
    refused = await bench.call("skill", action="load", name="deploy-prod")
    bench.answer = lambda request: ALLOW
    asked = await bench.outcome("skill", action="load", name="deploy-test")

    assert ("deploy-prod" in listed, "deploy-test" in listed) == (False, True)
    assert (refused["error"]["type"], asked) == ("permission_denied", "ok")
    assert [request.title for request in bench.asked] == ["Allow skill?  load deploy-test"]


async def test_the_user_may_refuse_a_load(config: Path) -> None:
    (config / "config.toml").write_text('[permission]\nskill = "ask"\n')
    bench = tools(config)
    bench.answer = lambda request: ApprovalReply(Decision.DENY)

    assert await bench.outcome("skill", action="load", name="debug") == "denied_by_user"


async def test_plan_mode_may_load(config: Path) -> None:
    assert await tools(config, Mode.PLAN).outcome("skill", action="load", name="debug") == "ok"


async def test_a_broken_skill_does_not_stop_the_others(config: Path) -> None:
    (config / "skills/bad").mkdir(parents=True)
    (config / "skills/bad/SKILL.md").write_text("---\nname: [\n---\n")

    bench = tools(config)

    assert await bench.outcome("skill", action="load", name="debug") == "ok"
    assert await bench.outcome("skill", action="load", name="bad") == "invalid_tool_params"


def test_the_names_are_a_choice_as_long_as_they_are_few(tmp_path: Path) -> None:
    for number in range(MOST_CHOICES + 1):
        put_skill(tmp_path, f"s-{number:03}")
    root = Root(tmp_path, SkillSource.USER)
    few = SkillTool(session_skills_of(root, denied=("s-000",))).params.model_json_schema()["properties"][
        "name"
    ]
    many = SkillTool(session_skills_of(root)).params.model_json_schema()["properties"]["name"]

    assert (few["type"], few["enum"][0], len(few["enum"]), "default" in few) == (
        "string",
        "s-001",
        100,
        False,
    )
    assert "enum" not in many


def test_the_choice_follows_what_is_denied_now(tmp_path: Path) -> None:
    put_skill(tmp_path, "a")
    put_skill(tmp_path, "b")
    denied: list[str] = []
    tool = SkillTool(session_skills_of(Root(tmp_path, SkillSource.USER), denied=denied))

    before = json.dumps(definition_of(tool))
    denied.append("a")
    after = json.dumps(definition_of(tool))

    assert ('"enum": ["a", "b"]' in before, '"enum": ["b"]' in after) == (True, True)
