"""Sub-agents through the whole core: what comes back, what it costs, and how they end."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.profiles.profiles import Profile, ProfileMode
from coder_tui.agent.subagents import INCOMPLETE, NUDGE, STOPPED_BY_USER, STOPPED_WITH_PARENT
from coder_tui.protocol.access import Mode
from coder_tui.protocol.events import Event, RequestOpened, SubagentFinished, SubagentStarted, ToolFinished
from coder_tui.protocol.outcomes import TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, Decision, Request, unattended
from coder_tui.protocol.subagents import ChildState
from tests.fakes.family import BUSY, DONE, calls, finish, fork, home, task
from tests.fakes.scripted_model import Say


async def test_a_task_comes_back_as_a_summary_and_nothing_else(tmp_path: Path) -> None:
    script = {"go": [task("look at a.txt", "explore"), DONE], "look at a.txt": [finish("it says one")]}
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        assert here.result() == {"ok": True, "agent": "explore", "summary": "it says one"}


async def test_a_child_knows_its_objective_and_nothing_of_the_conversation(tmp_path: Path) -> None:
    script = {"go": [task("look around", "explore"), DONE], "look around": [finish("x")]}
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        (request,) = here.model.requests["look around"]
        names = here.offered("look around")
    assert [message.role for message in request.messages] == ["user"]
    assert "You are a sub-agent" in request.system
    assert {"read", "grep", "task_finish"} <= names
    assert names & {"task", "fork", "write", "edit", "bash", "todowrite"} == set()


async def test_forked_results_come_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    tasks = [{"objective": "slow"}, {"objective": "quick", "agent": "explore"}, {"objective": "poor"}]
    script = {
        "go": [fork(*tasks), DONE],
        "slow": [finish("slow is done")],
        "quick": [finish("quick is done")],
        "poor": [finish("it cannot be done", ok=False)],
    }
    async with home(tmp_path, script) as here:
        here.model.holding["slow"] = asyncio.Event()
        turn = asyncio.create_task(here.session.submit("go"))
        await here.ended(2)
        here.model.holding["slow"].set()
        await turn
        assert here.result() == {
            "ok": False,
            "results": [
                {"agent": "general", "ok": True, "summary": "slow is done"},
                {"agent": "explore", "ok": True, "summary": "quick is done"},
                {"agent": "general", "ok": False, "summary": "it cannot be done"},
            ],
        }
        assert [(line.agent, line.task, line.state) for line in here.shown().children] == [
            ("general 1", "slow", ChildState.OK),
            ("explore", "quick", ChildState.OK),
            ("general 2", "poor", ChildState.FAILED),
        ]


async def test_no_more_than_four_work_at_once(tmp_path: Path) -> None:
    names = [f"part {number}" for number in range(7)]
    script = {"go": [fork(*({"objective": name} for name in names)), DONE]}
    async with home(tmp_path, {**script, **{name: [finish(name)] for name in names}}) as here:
        gate = asyncio.Event()
        here.model.holding.update(dict.fromkeys(names, gate))
        turn = asyncio.create_task(here.session.submit("go"))
        for name in names[:4]:
            await here.model.reached[name].wait()
        assert len(here.of_children(SubagentStarted)) == 7
        gate.set()
        await turn
        assert here.model.most_at_once == 4
        assert [result["summary"] for result in here.result()["results"]] == names


async def test_what_children_cost_counts_for_the_session_and_for_each_row(tmp_path: Path) -> None:
    tasks = [{"objective": "one"}, {"objective": "two"}]
    script = {
        "go": [fork(*tasks), DONE],
        "one": [calls("list"), finish("x")],
        "two": [finish("y")],
    }
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        assert [line.cost for line in here.shown().children] == [pytest.approx(0.02), pytest.approx(0.01)]
        assert here.session.report.usage.session.cost == pytest.approx(0.05)
        assert (await here.core.store.usage.total(here.session.id)).cost == pytest.approx(0.05)


async def test_an_end_without_a_finish_is_nudged_once_and_then_reported(tmp_path: Path) -> None:
    script = {
        "go": [task("wander"), DONE],
        "wander": [Say("I looked."), Say("Nothing to add.")],
    }
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        assert here.result() == {
            "ok": False,
            "agent": "general",
            "summary": f"{INCOMPLETE} It said last: Nothing to add.",
        }
        nudges = [m.text for m in here.model.requests["wander"][-1].messages if m.role == "user"]
        assert nudges == ["wander", NUDGE]


async def test_a_nudged_child_can_still_finish(tmp_path: Path) -> None:
    script = {"go": [task("wander"), DONE], "wander": [Say("I looked."), finish("found it")]}
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        assert here.result() == {"ok": True, "agent": "general", "summary": "found it"}


async def test_a_model_that_fails_fails_its_own_child_only(tmp_path: Path) -> None:
    tasks = [{"objective": "unscripted"}, {"objective": "fine"}]
    async with home(tmp_path, {"go": [fork(*tasks), DONE], "fine": [finish("ok")]}) as here:
        await here.session.submit("go")
        first, second = here.result()["results"]
    assert (first["ok"], second) == (False, {"agent": "general", "ok": True, "summary": "ok"})
    assert first["summary"].startswith("The model did not answer: Nothing is scripted")


async def test_another_model_is_asked_where_the_task_names_it(tmp_path: Path) -> None:
    tasks = [{"objective": "one", "model": "other/model"}, {"objective": "two"}]
    script = {"go": [fork(*tasks), DONE], "one": [finish("x")], "two": [finish("y")]}
    async with home(tmp_path, script) as here:
        here.answers.append(ApprovalReply(Decision.ALLOW_ONCE))
        await here.session.submit("go")
        asked = [here.model.requests[branch][0].model for branch in ("one", "two")]
    assert asked == ["other/model", "scripted"]


async def test_a_model_of_another_provider_is_asked_about_first(tmp_path: Path) -> None:
    tasks = [{"objective": "one", "model": "other/model"}, {"objective": "two"}]
    async with home(tmp_path, {"go": [fork(*tasks), DONE]}) as here:
        turn = asyncio.create_task(here.session.submit("go"))
        request = await here.asked.get()
        here.session.answer(request.id, ApprovalReply(Decision.DENY))
        await turn
        result = here.result()
    assert request.facts == ("it would send what it reads to a model of another provider: other/model",)
    assert result["error"]["type"] == "denied_by_user"
    assert set(here.model.requests) == {"go"}, "no child was started"


async def test_a_child_cannot_start_another(tmp_path: Path) -> None:
    script = {
        "go": [task("nest"), DONE],
        "nest": [calls("task", agent="general", objective="deeper"), finish("could not")],
    }
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        errors = here.errors("nest")
    assert errors[0] == {
        "type": "permission_denied",
        "message": "Tool 'task' is not available for Sub-Agents.",
    }


async def test_only_a_child_can_finish(tmp_path: Path) -> None:
    async with home(tmp_path, {"go": [finish("me"), DONE]}) as here:
        await here.session.submit("go")
        error = here.result()["error"]
    assert error["message"] == "Tool 'task_finish' is only available for Sub-Agents."


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (
            task("x", "explor"),
            "invalid args: agent: no sub-agent 'explor'",
            "The nearest are: explore. Known agents: general, explore, verify.",
        ),
        (
            task("x", "build"),
            "invalid args: agent: no sub-agent 'build'",
            "Known agents: general, explore, verify.",
        ),
        (
            task("x" * 1_000_000),
            "invalid args: objective: String should have at most 40000 characters",
            "task takes: agent, objective.",
        ),
        (
            task(""),
            "invalid args: objective: String should have at least 1 character",
            "task takes: agent, objective.",
        ),
        (
            fork(),
            "invalid args: tasks: List should have at least 1 item after validation, not 0",
            "fork takes: tasks.",
        ),
    ],
    ids=["unknown", "primary", "huge", "empty", "none"],
)
async def test_what_makes_no_sense_is_reported_so_that_it_can_be_repaired(
    tmp_path: Path, call: Say, message: str, hint: str
) -> None:
    async with home(tmp_path, {"go": [call, DONE]}) as here:
        await here.session.submit("go")
        assert here.result() == {
            "ok": False,
            "error": {"type": "invalid_tool_params", "message": message, "hint": hint},
        }
        assert here.of_children(SubagentStarted) == []


async def test_one_child_is_stopped_alone(tmp_path: Path) -> None:
    tasks = [{"objective": "endless", "agent": "explore"}, {"objective": "fine"}]
    script = {
        "go": [fork(*tasks), DONE],
        "endless": [Say("I begin", hangs=True)],
        "fine": [finish("ok")],
    }
    async with home(tmp_path, script) as here:
        turn = asyncio.create_task(here.session.submit("go"))
        await here.model.reached["endless"].wait()
        child = here.child_called("explore")
        assert here.session.subagents.stop(child)
        await turn
        assert not here.session.subagents.stop(child)
        assert here.result()["results"] == [
            {"agent": "explore", "ok": False, "summary": STOPPED_BY_USER},
            {"agent": "general", "ok": True, "summary": "ok"},
        ]
        assert here.outcome() is TurnOutcome.DONE
        assert here.model.under_way == 0


async def test_an_interruption_stops_the_whole_tree_and_leaves_nothing_running(tmp_path: Path) -> None:
    tasks = [{"objective": "endless"}, {"objective": "sleep"}]
    script = {
        "go": [fork(*tasks)],
        "endless": [Say("I begin", hangs=True)],
        "sleep": [calls("bash", command="sleep 600")],
    }
    async with home(tmp_path, script, mode=Mode.AUTO) as here:
        before = asyncio.all_tasks()
        turn = asyncio.create_task(here.session.submit("go"))
        await here.model.reached["endless"].wait()
        await here.model.reached["sleep"].wait()
        here.answers = [ApprovalReply(Decision.ALLOW_ONCE)]
        here.session.interrupt()
        await turn
        assert [event.state for event in here.of_children(SubagentFinished)] == [
            ChildState.STOPPED,
            ChildState.STOPPED,
        ]
        assert here.outcome() is TurnOutcome.INTERRUPTED
        assert here.model.under_way == 0
        assert asyncio.all_tasks() <= before
        stored = await here.core.store.load(here.session.id)
        (children,) = stored.children.values()
        assert [(line.state, line.summary) for line in children] == [
            (ChildState.STOPPED, STOPPED_WITH_PARENT)
        ] * 2


@pytest.mark.parametrize("moment", range(0, 40, 3))
async def test_an_interruption_at_any_moment_leaves_every_child_ended(tmp_path: Path, moment: int) -> None:
    tasks = [{"objective": name} for name in ("one", "two", "three")]
    branches = {name["objective"]: [calls("list"), finish("x")] for name in tasks}
    async with home(tmp_path, {"go": [fork(*tasks), DONE], **branches}) as here:
        left = moment

        def interrupt(event: Event) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                here.session.interrupt()

        here.session.subscribe(interrupt)
        await here.session.submit("go")
        children = await here.session.subagents.lines()
        assert len(here.of_children(SubagentStarted)) == len(here.of_children(SubagentFinished))
        assert [line for line in children if not line.state.is_over] == []
        stored = await here.core.store.usage.total(here.session.id)
        assert stored.cost == here.session.report.usage.session.cost


async def test_children_share_the_turns_steps(tmp_path: Path) -> None:
    script = {
        "go": [task("busy"), DONE],
        "busy": BUSY,
    }
    async with home(tmp_path, script, max_steps=4) as here:
        await here.session.submit("go")
        (ended,) = here.of_children(SubagentFinished)
        assert ended.summary.startswith("Stopped after 4 model calls")
        assert here.outcome() is TurnOutcome.LIMIT
        assert len(here.model.requests["go"]) == 1


async def test_children_share_the_spend_limit(tmp_path: Path) -> None:
    tasks = [{"objective": f"part {number}"} for number in range(6)]
    script = {"go": [fork(*tasks), DONE], **{f"part {n}": BUSY for n in range(6)}}
    asked: list[Request] = []
    async with home(tmp_path, script, max_cost=0.06) as here:

        def refuse(event: Event) -> None:
            if isinstance(event, RequestOpened):
                asked.append(event.request)
                here.session.answer(event.request.id, unattended(event.request))

        here.session.subscribe(refuse)
        await here.session.submit("go")
        results = here.shown().children
        assert {line.state for line in results} == {ChildState.FAILED}
        assert results[-1].summary.startswith("Stopped at $0.")
        # Whatever one of them is answered holds for all.
        assert (here.outcome(), len(asked)) == (TurnOutcome.LIMIT, 1)


async def test_a_profiles_own_limit_ends_its_child(tmp_path: Path) -> None:
    short = Profile("short", "Brief", ProfileMode.SUB, "You are brief.", max_steps=2)
    script = {"go": [task("busy", "short"), DONE], "busy": [replace(each, text="still") for each in BUSY]}
    async with home(tmp_path, script, profiles=[short]) as here:
        await here.session.submit("go")
        assert here.result()["summary"] == (
            "Stopped after 2 model calls, the limit of this agent. It said last: still"
        )


async def test_a_profiles_time_ends_its_child(tmp_path: Path) -> None:
    short = Profile("short", "Brief", ProfileMode.SUB, "You are brief.", max_minutes=0.05)
    script = {"go": [task("endless", "short"), DONE], "endless": [Say("I begin", hangs=True)]}
    async with home(tmp_path, script, profiles=[short]) as here:
        await here.session.submit("go")
        assert here.result() == {
            "ok": False,
            "agent": "short",
            "summary": "Stopped after 0.05 minutes, the limit of this agent. It said last: I begin",
        }


async def test_the_turns_time_ends_all_children(tmp_path: Path) -> None:
    script = {"go": [task("endless")], "endless": [Say("I begin", hangs=True)]}
    async with home(tmp_path, script, max_minutes=0.01) as here:
        await here.session.submit("go")
        assert here.outcome() is TurnOutcome.LIMIT
        assert [event.state for event in here.of_children(SubagentFinished)] == [ChildState.STOPPED]
        assert here.model.under_way == 0


async def test_a_resumed_session_shows_the_tree_and_reads_a_child_on_demand(tmp_path: Path) -> None:
    script = {
        "go": [task("look", "explore"), DONE],
        "look": [Say("I look.", (("list", {}),)), finish("seen")],
    }
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        shown, left = here.shown(), here.session.id
        await here.session.close()
        again = await here.core.resume(left)
        (call,) = [event for event in again.history() if isinstance(event, ToolFinished)]
        assert call.display == shown
        events = await again.subagents.events(shown.children[0].child_id)
        assert [type(event).__name__ for event in events] == [
            "UserMessageAdded",
            "MessageFinished",
            "ToolFinished",
            "ToolFinished",
        ]
        await again.close()
