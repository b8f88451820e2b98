"""Skills in the installed program: by `tool call`, and with a model over real HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.fakes.program import Program, json_lines
from tests.fakes.script import Call, Reply
from tests.fakes.scripted_server import ScriptedServer
from tests.fakes.skill_files import put_skill


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """An own `debug`, one with a script, a broken one, and two that a rule denies."""
    made = Program.in_folder(tmp_path)
    skills = made.home / ".agents/skills"
    put_skill(skills, "debug", "My own way to debug.", "Ask the duck first.")
    deploy = put_skill(skills, "deploy", "Ships the program.", "Run `scripts/ship.sh test`.")
    (deploy / "scripts").mkdir()
    (deploy / "scripts/ship.sh").write_text('echo "shipped to $1"\n')
    put_skill(skills, "secret-plan", "Must not be seen.", "Hidden words.")
    (skills / "broken").mkdir()
    (skills / "broken/SKILL.md").write_text("---\nname: broken\ndescription: [\n---\n")
    config = made.home / ".config/coder-tui"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('[permission.skill]\n"secret*" = "deny"\n')
    return made


def asked(server: ScriptedServer, number: int) -> dict[str, Any]:
    return dict(server.requests[number])


def system(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"])


def results(request: dict[str, Any]) -> list[dict[str, Any]]:
    """In the order of the calls, whichever ended first."""
    answers = [message for message in request["messages"] if message["role"] == "tool"]
    return [
        json.loads(answer["content"]) for answer in sorted(answers, key=lambda each: each["tool_call_id"])
    ]


def names_offered(request: dict[str, Any]) -> list[str]:
    tools = {tool["function"]["name"]: tool["function"] for tool in request["tools"]}
    return list(tools["skill"]["parameters"]["properties"]["name"]["enum"])


def run(
    program: Program, server: ScriptedServer, prompt: str, *more: str
) -> tuple[list[dict[str, Any]], str]:
    """The events, and what was said on standard error."""
    done = program.run(
        *("run", "-p", prompt, "--model", "openai/x", "--api-base", server.url, "--format", "stream-json"),
        *more,
    )
    assert done.returncode == 0, done.stderr
    return json_lines(done.stdout), done.stderr


def test_by_tool_call(program: Program) -> None:
    ship = str(program.home / ".agents/skills/deploy/scripts/ship.sh")
    calls = [
        ("skill", {"action": "list"}),
        ("skill", {"action": "load", "name": "debug"}),
        ("skill", {"action": "load", "name": "secret-plan"}),
        ("skill", {"action": "load", "name": "broken"}),
        ("skill", {"action": "load", "name": "../debug"}),
        ("read", {"path": ship}),
        ("skill", {"action": "load", "name": "deploy"}),
        ("read", {"path": ship}),
        ("skill", {"action": "load", "name": "deploy"}),
    ]
    lines = "\n".join(json.dumps({"tool": tool, "args": args}) for tool, args in calls)

    listed, debug, secret, broken, path, before, deploy, after, again = json_lines(
        program.run("tool", "call", "--stdin", stdin=lines).stdout
    )

    assert {skill["name"]: skill["source"] for skill in listed["skills"]} == {
        **dict.fromkeys(("code-review", "commit", "create-skill", "write-tests"), "built-in"),
        **dict.fromkeys(("debug", "deploy"), "user"),
    }
    assert "Ask the duck first." in debug["content"]
    assert [each["error"]["type"] for each in (secret, broken, path, before)] == [
        *("permission_denied", "invalid_tool_params", "invalid_tool_params", "permission_denied")
    ]
    assert "secret*" in secret["error"]["hint"]
    assert (deploy["directory"], deploy["files"]) == (str(Path(ship).parents[1]), ["scripts/ship.sh"])
    assert after["content"] == 'echo "shipped to $1"'
    assert "already loaded" in again["content"]


@pytest.mark.needs("bubblewrap")
def test_a_model_sees_the_catalogue_and_loads_by_name(program: Program) -> None:
    ship = str(program.home / ".agents/skills/deploy/scripts/ship.sh")
    script = [
        Reply(calls=(Call("skill", {"action": "load", "name": "deploy"}),)),
        Reply(
            calls=(
                Call("read", {"path": ship}),
                Call("skill", {"action": "load", "name": "secret-plan"}),
                Call("bash", {"command": f"sh {ship} test"}),
            )
        ),
        Reply(text="Done."),
    ]
    with OpenAIServer(script) as server:
        _, said = run(program, server, "ship it", "--permission", "auto")
        first, last = asked(server, 0), asked(server, 2)

    assert "- debug: My own way to debug.\n" in system(first)
    assert ("secret-plan" in system(first), "broken" in system(first)) == (False, False)
    assert names_offered(first) == ["code-review", "commit", "create-skill", "debug", "deploy", "write-tests"]
    assert system(first) == system(last)
    assert first["tools"] == last["tools"]
    loaded, read, secret, ran = results(last)
    assert loaded["content"].startswith('<skill name="deploy"')
    assert read["content"] == 'echo "shipped to $1"'
    assert secret["error"]["type"] == "permission_denied"
    assert ran["stdout"] == "shipped to test\n"
    assert "A skill is not used: ~/.agents/skills/broken/SKILL.md:" in said


def test_a_slash_or_a_name_includes_the_text_without_asking(program: Program) -> None:
    with OpenAIServer([Reply(text="Yes."), Reply(text="Yes.")]) as server:
        events, _ = run(program, server, "/deploy to test, then use the debug skill")
        session = events[-1]["session_id"]
        more, _ = run(program, server, "/deploy again, without the secret-plan skill", "--resume", session)
        first, second = (str(asked(server, number)["messages"][-1]["content"]) for number in range(2))

    assert first.startswith("/deploy to test, then use the debug skill\n")
    assert ("Run `scripts/ship.sh test`." in first, "Ask the duck first." in first) == (True, True)
    assert "its text is earlier" in second
    assert ("Hidden words." in second, "not attached: denied by" in second) == (False, True)
    assert [event for event in (*events, *more) if event["type"] == "request_opened"] == []
    notices = [event["text"] for event in more if event["type"] == "notice"]
    assert any(text.startswith("The skill secret-plan is not loaded: denied by") for text in notices)


def test_a_project_skill_waits_for_trust_and_loses_it_when_a_script_changes(program: Program) -> None:
    folder = put_skill(program.project / ".claude/skills", "release", "Releases.", "Run go.sh.")
    (folder / "go.sh").write_text("true\n")
    load = ("tool", "call", "skill", '{"action": "load", "name": "release"}')

    before = json.loads(program.run(*load).stdout)
    listed = program.run("trust", "--list").stdout
    program.run("trust", "--yes")
    trusted = json.loads(program.run(*load).stdout)
    (folder / "go.sh").write_text("evil\n")
    changed = json.loads(program.run(*load).stdout)

    assert ".claude/skills/release/go.sh" in listed
    assert [each["ok"] for each in (before, trusted, changed)] == [False, True, False]


def test_a_sub_agent_loads_for_itself(program: Program) -> None:
    ship = str(program.home / ".agents/skills/deploy/scripts/ship.sh")
    load = Reply(calls=(Call("skill", {"action": "load", "name": "deploy"}),))
    parent = (
        load,
        Reply(calls=(Call("task", {"agent": "general", "objective": "ship"}),)),
        Reply(text="Done."),
    )
    child = (
        load,
        Reply(calls=(Call("read", {"path": ship}), Call("skill", {"action": "load", "name": "secret-plan"}))),
        Reply(calls=(Call("task_finish", {"summary": "shipped"}),)),
    )
    seen: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> Reply:
        is_child = any(tool["function"]["name"] == "task_finish" for tool in request["tools"])
        if is_child:
            seen.append(request)
        steps = sum(message["role"] == "assistant" for message in request["messages"])
        return (child if is_child else parent)[steps]

    with OpenAIServer(answer) as server:
        run(program, server, "ship it")

    loaded, read, secret = results(seen[-1])
    assert "- deploy: Ships the program." in system(seen[0])
    assert loaded["content"].startswith('<skill name="deploy"')
    assert read["content"] == 'echo "shipped to $1"'
    assert secret["error"]["type"] == "permission_denied"
