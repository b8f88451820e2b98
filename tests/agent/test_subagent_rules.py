"""What sub-agents may do, and how they share files."""

import asyncio
from pathlib import Path

import pytest

from coder_tui.agent.profiles.profiles import Profile, ProfileMode
from coder_tui.policy.rules import Effect, Rule
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import FilesChanged, RequestClosed, SubagentStarted, ToolFinished
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.tools.registry import Origin
from tests.fakes.family import DONE, calls, finish, fork, home, task
from tests.fakes.scripted_model import Say
from tests.fakes.tools import ActTool


async def test_a_child_asks_by_its_name_and_a_grant_holds_for_all(tmp_path: Path) -> None:
    tasks = [{"objective": "one"}, {"objective": "two"}]
    script = {
        "go": [fork(*tasks), DONE],
        "one": [calls("create_file", path="one.txt"), finish("made one")],
        "two": [calls("create_file", path="two.txt"), finish("made two")],
    }
    async with home(tmp_path, script) as here:
        turn = asyncio.create_task(here.session.submit("go"))
        requests = [await here.asked.get(), await here.asked.get()]
        assert sorted(request.agent for request in requests) == ["general 1", "general 2"]
        assert {request.child_id for request in requests} == {
            here.child_called("general 1"),
            here.child_called("general 2"),
        }
        by_name = {request.agent: request for request in requests}
        here.session.answer(by_name["general 2"].id, ApprovalReply(Decision.ALLOW_ONCE))
        here.session.answer(by_name["general 1"].id, ApprovalReply(Decision.DENY, "not that one"))
        await turn
        assert not (here.project / "one.txt").exists()
        assert (here.project / "two.txt").exists()
        assert here.events.count(FilesChanged(("two.txt",))) == 1


async def test_what_the_user_allowed_for_good_holds_in_every_child(tmp_path: Path) -> None:
    script = {
        "go": [task("one"), task("two"), DONE],
        "one": [calls("create_file", path="one.txt"), finish("made one")],
        "two": [calls("create_file", path="two.txt"), finish("made two")],
    }
    async with home(tmp_path, script) as here:
        turn = asyncio.create_task(here.session.submit("go"))
        request = await here.asked.get()
        everywhere = next(grant for grant in request.grants if "every edit" in grant.label)
        here.session.answer(request.id, ApprovalReply(Decision.ALLOW_ALWAYS, grant=everywhere))
        await turn
        assert (here.project / "two.txt").exists()
        assert here.asked.empty()


async def test_plan_mode_holds_for_children(tmp_path: Path) -> None:
    script = {
        "go": [task("change it"), DONE],
        "change it": [
            calls("write", path="a.txt", content="x"),
            calls("bash", command="touch b"),
            finish("no"),
        ],
    }
    async with home(tmp_path, script, mode=Mode.PLAN) as here:
        await here.session.submit("go")
        assert [error["type"] for error in here.errors("change it")] == [
            "permission_denied",
            "permission_denied",
        ]
        assert list(here.project.iterdir()) == []


async def test_a_profile_that_allows_gives_no_more_than_the_parent_has(tmp_path: Path) -> None:
    """Its rule says allow; the user is asked all the same, and where they forbid it stays forbidden."""
    bold = Profile(
        "bold",
        "Does anything",
        ProfileMode.SUB,
        "You do anything.",
        rules=(Rule("edit", "*", Effect.ALLOW, "bold.md"), Rule("bash", "*", Effect.ALLOW, "bold.md")),
    )
    script = {
        "go": [task("change it", "bold"), DONE],
        "change it": [calls("write", path="a.txt", content="x"), finish("refused")],
    }
    async with home(tmp_path, script, profiles=[bold]) as here:
        here.answers = [ApprovalReply(Decision.NOBODY_THERE)]
        await here.session.submit("go")
        (denied,) = [e for e in here.of_children(ToolFinished) if e.tool == "write"]
        assert denied.outcome is Outcome.DENIED
        assert not (here.project / "a.txt").exists()


async def test_what_a_profile_forbids_is_denied_and_said(tmp_path: Path) -> None:
    shy = Profile(
        "shy", "Reads", ProfileMode.SUB, "You read.", rules=(Rule("edit", "*", Effect.DENY, "shy.md"),)
    )
    script = {
        "go": [task("change it", "shy"), DONE],
        "change it": [calls("write", path="a.txt", content="x"), finish("refused")],
    }
    async with home(tmp_path, script, profiles=[shy], mode=Mode.EDITS) as here:
        await here.session.submit("go")
        (error,) = here.errors("change it")
        assert (error["type"], "shy.md" in error["hint"]) == ("permission_denied", True)


async def test_children_that_change_one_file_do_it_one_after_the_other(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(6)]
    script: dict[str, list[Say]] = {"go": [fork(*({"objective": line} for line in lines)), DONE]}
    for line in lines:
        edit = calls("edit", path="a.txt", old_string=f"{line}\n", new_string=f"{line} edited\n")
        script[line] = [edit, finish(line)]
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("".join(f"{line}\n" for line in lines))
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        assert (here.project / "a.txt").read_text() == "".join(f"{line} edited\n" for line in lines)


async def test_a_child_has_not_read_what_its_parent_has(tmp_path: Path) -> None:
    script = {
        "go": [calls("read", path="a.txt"), task("overwrite"), DONE],
        "overwrite": [calls("write", path="a.txt", content="x"), finish("stale")],
    }
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.txt").write_text("one\n")
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        (error,) = here.errors("overwrite")
        assert error["type"] == "stale_file"


async def test_what_children_changed_belongs_to_the_turn(tmp_path: Path) -> None:
    script = {
        "go": [task("make it"), DONE],
        "make it": [calls("create_file", path="new.txt", content="x\n"), finish("made")],
    }
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        (changed,) = await here.session.changed_files()
        assert (changed.path.name, changed.before, changed.after) == ("new.txt", None, b"x\n")


@pytest.mark.parametrize(("mode", "outcome"), [(Mode.ASK, Outcome.OK), (Mode.PLAN, Outcome.DENIED)])
async def test_a_foreign_tool_serves_children_under_the_same_rules(
    tmp_path: Path, mode: Mode, outcome: Outcome
) -> None:
    script = {"go": [task("use it"), DONE], "use it": [calls("act", text="x"), finish("used")]}
    async with home(tmp_path, script, mode=mode) as here:
        tool = ActTool()
        here.session.report.registry.register(tool, origin=Origin.DISCOVERED)
        here.answers = [ApprovalReply(Decision.ALLOW_ONCE)]
        await here.session.submit("go")
        assert [e.outcome for e in here.of_children(ToolFinished) if e.tool == "act"] == [outcome]


async def test_a_rule_may_speak_of_an_agent_by_its_name(tmp_path: Path) -> None:
    script = {"go": [task("x", "general"), DONE]}
    careful = Profile(
        "careful",
        "Asks nobody for help",
        ProfileMode.PRIMARY,
        "You work alone.",
        rules=(Rule("task", "general", Effect.DENY, "careful.md"),),
    )
    async with home(tmp_path, script, profiles=[careful]) as here:
        here.session.profiles.use("careful")
        await here.session.submit("go")
        assert here.result()["error"]["type"] == "permission_denied"
        assert here.of_children(SubagentStarted) == []


async def test_what_is_asked_in_a_child_that_is_stopped_is_withdrawn(tmp_path: Path) -> None:
    script = {
        "go": [task("make it"), DONE],
        "make it": [calls("create_file", path="new.txt")],
    }
    async with home(tmp_path, script) as here:
        turn = asyncio.create_task(here.session.submit("go"))
        request = await here.asked.get()
        here.session.subagents.stop(request.child_id)
        await turn
        assert RequestClosed(request.id, None) in here.events
        assert not (here.project / "new.txt").exists()


async def test_a_mode_that_the_user_changes_holds_at_once_for_those_at_work(tmp_path: Path) -> None:
    script = {
        "go": [task("change it"), DONE],
        "change it": [calls("write", path="a.txt", content="x"), finish("refused")],
    }
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        here.model.holding["change it"] = asyncio.Event()
        turn = asyncio.create_task(here.session.submit("go"))
        await here.model.reached["change it"].wait()
        here.session.set_mode(Mode.PLAN)
        here.model.holding["change it"].set()
        await turn
        assert [error["type"] for error in here.errors("change it")] == ["permission_denied"]
        assert not (here.project / "a.txt").exists()
