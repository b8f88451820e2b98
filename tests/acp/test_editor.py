"""`coder-tui acp` as a process, driven by the protocol's own client."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from acp import RequestError, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import PermissionOption, ToolCallUpdate

from tests.fakes.acp_editor import Editor, started
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.process_family import running
from tests.fakes.program import Program
from tests.fakes.script import Call, Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass
class Talk:
    """One editor, one agent process and one session for all tests: a model's process starts slowly."""

    editor: Editor
    agent: ClientSideConnection
    server: OpenAIServer
    project: Path
    session_id: str
    pid: int

    async def prompt(self, text: str, *replies: Reply) -> str:
        self.editor.updates.clear()
        self.editor.asked.clear()
        self.server.add(*replies)
        response = await self.agent.prompt(session_id=self.session_id, prompt=[text_block(text)])
        return response.stop_reason

    def said(self, kind: str = "agent_message_chunk") -> str:
        return self.editor.text(self.session_id, kind)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talk]:
    program = Program.in_folder(tmp_path_factory.mktemp("acp"))
    editor = Editor()
    with OpenAIServer([]) as server:
        flags = ("--model", "openai/x", "--api-base", server.url)
        async with started(editor, program, flags, CODER_TUI_LIMITS__MAX_STEPS="6") as (agent, process):
            await agent.initialize(protocol_version=1)
            new = await agent.new_session(cwd=str(program.project), mcp_servers=[])
            assert new.config_options is not None
            stands = {option.id: option.current_value for option in new.config_options}
            assert stands == {"mode": "ask", "model": "openai/x"}
            yield Talk(editor, agent, server, program.project, new.session_id, process.pid)


def grants_only_edits(call: ToolCallUpdate, options: list[PermissionOption]) -> str:
    return "allow_once" if call.kind == "edit" else "reject_once"


def allows(call: ToolCallUpdate, options: list[PermissionOption]) -> str:
    return "allow_once"


async def test_a_turn_with_one_call_granted_and_one_refused(talk: Talk) -> None:
    file = talk.project / "greeting.txt"
    file.write_text("one\ntwo\nthree\n")
    talk.editor.choose = grants_only_edits
    todo = {"id": "1", "content": "Shout", "status": "in_progress", "priority": "high"}
    reason = await talk.prompt(
        "Shout the second line.",
        Reply(thinking="Hm.", text="Looking.", calls=(Call("read", {"path": "greeting.txt"}, "r"),)),
        Reply(calls=(Call("todowrite", {"todos": [todo]}, "t"),)),
        Reply(
            calls=(
                Call("edit", {"path": "greeting.txt", "old_string": "two", "new_string": "TWO"}, "e"),
                Call("bash", {"command": "touch ran"}, "b"),
            )
        ),
        Reply(text="Done."),
    )

    assert reason == "end_turn"
    assert (talk.said(), talk.said("agent_thought_chunk")) == ("Looking.Done.", "Hm.")
    assert file.read_text() == "one\nTWO\nthree\n"
    assert not (talk.project / "ran").exists()
    asked = [
        (call.tool_call_id, call.title, [each.kind for each in available_commands])
        for call, available_commands in talk.editor.asked
    ]
    always = ["allow_once", "allow_always", "allow_always", "reject_once", "reject_always"]
    assert [(id, title) for id, title, _ in asked] == [("e", "edit greeting.txt"), ("b", "bash touch ran")]
    assert all(set(kinds) == set(always) for _, _, kinds in asked)
    [shown] = [each for each in talk.editor.asked[0][0].content or [] if each.type == "diff"]
    assert (shown.path, shown.old_text, shown.new_text) == (
        str(file),
        "one\ntwo\nthree\n",
        "one\nTWO\nthree\n",
    )
    [plan] = talk.editor.of(talk.session_id, "plan")
    assert [(each.content, each.status, each.priority) for each in plan.entries] == [
        ("Shout", "in_progress", "high")
    ]
    assert _ends(talk) == {"r": "completed", "t": "completed", "e": "completed", "b": "failed"}


def _ends(talk: Talk) -> dict[str, str]:
    sent = talk.editor.of(talk.session_id, "tool_call") + talk.editor.of(talk.session_id, "tool_call_update")
    return {each.tool_call_id: each.status for each in sent}


async def test_a_call_is_reported_with_its_kind_location_arguments_and_result(talk: Talk) -> None:
    (talk.project / "a.txt").write_text("alpha\n")
    await talk.prompt("Read.", Reply(calls=(Call("read", {"path": "a.txt"}, "place"),)), Reply(text="."))

    [begun] = talk.editor.of(talk.session_id, "tool_call")
    [ended] = talk.editor.of(talk.session_id, "tool_call_update")
    assert (begun.kind, begun.raw_input, begun.status) == ("read", {"path": "a.txt"}, "in_progress")
    assert [place.path for place in begun.locations] == [str(talk.project / "a.txt")]
    assert (ended.raw_output["content"], ended.content[0].content.text) == ("alpha", "```\nalpha\n```")


async def test_allowed_always_is_not_asked_again_in_this_session(talk: Talk) -> None:
    talk.editor.choose = lambda call, options: "allow_always"
    calls = [Reply(calls=(Call("bash", {"command": "touch always"}, f"a{n}"),)) for n in range(2)]
    await talk.prompt("Twice.", *calls, Reply(text="."))

    assert len(talk.editor.asked) == 1
    assert _ends(talk) == {"a0": "completed", "a1": "completed"}


async def test_refused_always_is_not_asked_again_in_this_session(talk: Talk) -> None:
    talk.editor.choose = lambda call, options: "reject_always"
    calls = [Reply(calls=(Call("bash", {"command": "touch never"}, f"n{n}"),)) for n in range(2)]
    await talk.prompt("Twice.", *calls, Reply(text="."))

    assert len(talk.editor.asked) == 1
    assert _ends(talk) == {"n0": "failed", "n1": "failed"}


async def test_questions_and_a_plan_are_put_as_choices(talk: Talk) -> None:
    talk.editor.choose = allows
    await talk.agent.set_session_mode(session_id=talk.session_id, mode_id="plan")
    question = {
        "question": "Tabs or blanks?",
        "options": [{"label": "Tabs"}, {"label": "Blanks (Recommended)"}],
    }
    await talk.prompt(
        "Plan it.",
        Reply(calls=(Call("question", {"questions": [question]}, "q"),)),
        Reply(calls=(Call("plan_exit", {"plan": "# Use tabs"}, "p"),)),
        Reply(text="Off I go."),
    )

    assert [(call.title, [each.name for each in options]) for call, options in talk.editor.asked] == [
        ("Tabs or blanks?", ["Tabs", "Blanks (Recommended)", "Skip this question"]),
        ("Carry out this plan?", ["Carry it out", "Keep planning"]),
    ]
    assert _ends(talk) == {"q": "completed", "p": "completed"}
    [changed] = talk.editor.of(talk.session_id, "current_mode_update")
    assert changed.current_mode_id == "ask"


@pytest.mark.parametrize(
    ("finish", "reason"), [("length", "max_tokens"), ("content_filter", "refusal"), ("stop", "end_turn")]
)
async def test_the_end_of_a_reply_is_the_reason_to_stop(talk: Talk, finish: str, reason: str) -> None:
    assert await talk.prompt("Speak.", Reply(text="Some words.", finish=finish)) == reason


async def test_a_limit_that_was_met_is_the_reason_to_stop(talk: Talk) -> None:
    looks = [Reply(calls=(Call("read", {"path": "a.txt", "offset": n}, f"l{n}"),)) for n in range(1, 7)]
    assert await talk.prompt("Look.", *looks) == "max_turn_requests"
    assert "the limit of one turn" in talk.said()


async def test_a_model_that_refuses_is_an_error_with_its_text(talk: Talk) -> None:
    with pytest.raises(RequestError, match="not for you"):
        await talk.prompt("Speak.", Reply(status=400, error="not for you"))


async def test_a_prompt_can_be_cancelled_and_a_second_one_is_rejected(talk: Talk) -> None:
    going = asyncio.create_task(talk.prompt("Wait.", Reply(text="I begin and stop here", stall_after=4)))
    await talk.editor.until(lambda: "begin" in talk.said())
    with pytest.raises(RequestError, match="already working on a prompt"):
        await talk.agent.prompt(session_id=talk.session_id, prompt=[text_block("Me too.")])
    await talk.agent.cancel(session_id=talk.session_id)

    assert await going == "cancelled"


async def test_a_question_that_is_cancelled_ends_the_turn(talk: Talk) -> None:
    talk.editor.choose = lambda call, options: None
    reason = await talk.prompt("Run.", Reply(calls=(Call("bash", {"command": "touch no"}, "c"),)))

    assert (reason, _ends(talk)) == ("cancelled", {"c": "failed"})


async def test_a_turn_is_cancelled_while_a_question_waits_and_the_next_one_runs(talk: Talk) -> None:
    talk.editor.is_away = True
    going = asyncio.create_task(
        talk.prompt("Run.", Reply(calls=(Call("bash", {"command": "touch unasked"}, "u"),)))
    )
    await talk.editor.until(lambda: [call.tool_call_id for call, _ in talk.editor.asked] == ["u"])
    await talk.agent.cancel(session_id=talk.session_id)
    assert (await going, _ends(talk)) == ("cancelled", {"u": "failed"})

    talk.editor.is_away = False
    assert await talk.prompt("Go on.", Reply(text="Here I am.")) == "end_turn"
    assert talk.said() == "Here I am."


async def test_a_mode_applies_and_is_reported_when_a_command_changes_it(talk: Talk) -> None:
    talk.editor.choose = lambda call, options: "reject_once"
    await talk.agent.set_session_mode(session_id=talk.session_id, mode_id="edits")
    write = Call("write", {"path": "new.txt", "content": "new\n"}, "w")
    await talk.prompt("Write.", Reply(calls=(write,)), Reply(text="."))
    assert (talk.project / "new.txt").read_text() == "new\n"
    [shown] = talk.editor.of(talk.session_id, "tool_call_update")[-1].content
    assert (shown.old_text, shown.new_text) == (None, "new\n")

    assert await talk.prompt("/plan") == "end_turn"
    [changed] = talk.editor.of(talk.session_id, "current_mode_update")
    assert changed.current_mode_id == "plan"
    await talk.agent.set_session_mode(session_id=talk.session_id, mode_id="ask")
    with pytest.raises(RequestError, match="no mode 'yolo'"):
        await talk.agent.set_session_mode(session_id=talk.session_id, mode_id="yolo")


async def test_mode_and_model_are_chosen_in_the_editor(talk: Talk) -> None:
    async def chosen(**wish: str) -> dict[str, Any]:
        response = await talk.agent.set_config_option(session_id=talk.session_id, **wish)
        assert response is not None
        return {option.id: option.current_value for option in response.config_options}

    talk.editor.updates.clear()
    assert await chosen(config_id="mode", value="edits") == {"mode": "edits", "model": "openai/x"}
    assert (await chosen(config_id="model", value="openai/gpt-6-luna"))["model"] == "openai/gpt-6-luna"
    sent = [update.config_options for update in talk.editor.of(talk.session_id, "config_option_update")]
    assert [[option.current_value for option in options] for options in sent] == [
        ["edits", "openai/x"],
        ["edits", "openai/gpt-6-luna"],
    ]
    await talk.prompt("Who are you?", Reply(text="Another."))
    assert talk.server.requests[-1]["model"] == "gpt-6-luna"

    for wish in ({"config_id": "model", "value": "none/such"}, {"config_id": "colour", "value": "x"}):
        with pytest.raises(RequestError, match=r"unknown model|there is no option"):
            await chosen(**wish)
    await chosen(config_id="mode", value="ask")
    await chosen(config_id="model", value="openai/x")


async def test_commands_are_offered_and_answered_without_the_model(talk: Talk) -> None:
    before = len(talk.server.requests)
    assert await talk.prompt("/tools") == "end_turn"

    assert "  todowrite " in talk.said()
    assert len(talk.server.requests) == before


async def test_a_stored_session_is_listed_and_loaded_with_its_history(talk: Talk) -> None:
    await talk.agent.close_session(session_id=talk.session_id)
    with pytest.raises(RequestError, match="is not open"):
        await talk.agent.prompt(session_id=talk.session_id, prompt=[text_block("Hello?")])
    listed = await talk.agent.list_sessions(cwd=str(talk.project))
    assert [(each.session_id, each.cwd) for each in listed.sessions] == [(talk.session_id, str(talk.project))]
    elsewhere = await talk.agent.list_sessions(cwd=str(talk.project.parent))
    assert elsewhere.sessions == []

    talk.editor.updates.clear()
    loaded = await talk.agent.load_session(cwd=str(talk.project), session_id=talk.session_id)

    assert loaded.modes is not None and loaded.modes.current_mode_id == "ask"
    assert talk.said("user_message_chunk").startswith("Shout the second line.")
    assert talk.said().startswith("Looking.Done.")
    ends = _ends(talk)
    assert (ends["r"], ends["e"], ends["b"]) == ("completed", "completed", "failed")
    kinds = {each.tool_call_id: each.kind for each in talk.editor.of(talk.session_id, "tool_call")}
    assert (kinds["r"], kinds["e"], kinds["b"]) == ("read", "edit", "execute")
    fork = await talk.agent.fork_session(cwd=str(talk.project), session_id=talk.session_id)
    assert fork.session_id != talk.session_id
    assert len(running(talk.pid, "coder_tui.llm.host")) == 1
    await talk.agent.close_session(session_id=fork.session_id)
    with pytest.raises(RequestError, match="belongs to"):
        await talk.agent.load_session(cwd=str(talk.project.parent), session_id=talk.session_id)
    # What is open goes on.
    await talk.agent.set_session_mode(session_id=talk.session_id, mode_id="ask")


@pytest.mark.parametrize(
    ("cwd", "words"), [("not/absolute", "absolute"), ("/no/such/folder", "no folder at")]
)
async def test_a_session_needs_a_folder(talk: Talk, cwd: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        await talk.agent.new_session(cwd=cwd, mcp_servers=[])


async def test_trust_is_asked_once_and_applies_from_then_on(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    rules = program.project / ".coder-tui/config.toml"
    rules.parent.mkdir()
    rules.write_text('[permission.bash]\n"make test" = "allow"\n')
    editor = Editor(choose=lambda call, options: "allow_always")
    async with started(editor, program, ("--model", "demo")) as (agent, _):
        new = await agent.new_session(cwd=str(program.project), mcp_servers=[])
        for _ in range(2):
            await agent.prompt(session_id=new.session_id, prompt=[text_block("/permissions")])

    assert [(call.title, [each.kind for each in options]) for call, options in editor.asked] == [
        (
            "Trust this project? It has its own settings.",
            ["allow_always", "reject_once", "reject_always"],
        )
    ]
    assert editor.text(new.session_id).count("bash 'make test' = allow") == 2
    sent = (*editor.of(new.session_id, "tool_call"), *editor.of(new.session_id, "tool_call_update"))
    assert [(each.tool_call_id, each.status) for each in sent] == [
        ("trust", "pending"),
        ("trust", "completed"),
    ]


async def test_without_a_model_a_session_is_refused_with_the_way_to_one(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    no_keys = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": ""}
    async with started(Editor(), program, **no_keys) as (agent, _):
        with pytest.raises(RequestError, match="no model: set a key") as caught:
            await agent.new_session(cwd=str(program.project), mcp_servers=[])
    assert caught.value.code == -32000
