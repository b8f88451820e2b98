"""Several calls in one: each decided by itself, results in order."""

import asyncio
import json
from pathlib import Path
from typing import Any

from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import TableBlock
from coder_tui.protocol.events import FilesChanged, ToolFinished, ToolProgressed
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.requests import ApprovalReply, Decision
from tests.fakes.family import DONE, calls, finish, home, task
from tests.fakes.scripted_model import Say


def batch(*inner: tuple[str, dict[str, Any]]) -> Say:
    return calls("batch", calls=[{"tool": tool, "args": args} for tool, args in inner])


def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (folder / "b.txt").write_text("two\n")
    return folder


async def test_results_come_in_the_order_of_the_calls(tmp_path: Path) -> None:
    project(tmp_path)
    script = {
        "go": [batch(("read", {"path": "a.txt"}), ("nope", {}), ("read", {"path": "b.txt"})), DONE],
    }
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        reported = here.result()
        first, wrong, last = reported["results"]
        assert (reported["ok"], first["content"], last["content"]) == (False, "one", "two")
        assert wrong["error"]["type"] == "unknown_tool"
        (shown,) = [event for event in here.events if isinstance(event, ToolFinished)]
        assert shown.display == TableBlock(
            ("tool", "what", "outcome"),
            (
                ("read", "a.txt 1-1 of 1", "ok"),
                ("nope", "", "failed"),
                ("read", "b.txt 1-1 of 1", "ok"),
            ),
        )
        progress = "".join(event.text for event in here.events if isinstance(event, ToolProgressed))
        assert sorted(progress.splitlines()) == [
            "failed  nope  ",
            "ok  read  a.txt 1-1 of 1",
            "ok  read  b.txt 1-1 of 1",
        ]


async def test_each_call_is_decided_by_itself(tmp_path: Path) -> None:
    folder = project(tmp_path)
    script = {
        "go": [
            batch(
                ("create_file", {"path": "new.txt"}),
                ("create_file", {"path": "other.txt"}),
                ("list", {}),
            ),
            DONE,
        ]
    }
    async with home(tmp_path, script) as here:
        turn = asyncio.create_task(here.session.submit("go"))
        first = await here.asked.get()
        here.session.answer(first.id, ApprovalReply(Decision.ALLOW_ONCE))
        second = await here.asked.get()
        here.session.answer(second.id, ApprovalReply(Decision.DENY, "no"))
        await turn
        assert [result.get("ok") for result in here.result()["results"]] == [True, False, True]
        assert here.result()["results"][1]["error"]["type"] == "denied_by_user"
        assert ((folder / "new.txt").exists(), (folder / "other.txt").exists()) == (True, False)
        assert FilesChanged(("new.txt",)) in here.events


async def test_what_starts_others_or_ends_the_work_cannot_be_part_of_it(tmp_path: Path) -> None:
    names = ("list", "batch", "self_fork", "task", "plan_exit")
    async with home(tmp_path, {"go": [batch(*((name, {}) for name in names)), DONE]}) as here:
        await here.session.submit("go")
        assert here.result()["error"] == {
            "type": "invalid_tool_params",
            "message": "invalid args: calls.1.tool: batch cannot be part of a batch\n"
            "calls.2.tool: fork cannot be part of a batch\n"
            "calls.3.tool: task cannot be part of a batch\n"
            "calls.4.tool: plan_exit cannot be part of a batch",
            "hint": "Nothing was run. Make this call separately.",
        }


async def test_a_batch_of_one_or_of_thirty_is_refused(tmp_path: Path) -> None:
    script = {"go": [batch(("list", {})), batch(*[("list", {})] * 30), DONE]}
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        messages = [error["message"] for error in here.errors("go")]
    assert messages == [
        "invalid args: calls: List should have at least 2 items after validation, not 1",
        "invalid args: calls: List should have at most 25 items after validation, not 30",
    ]


async def test_plan_mode_holds_inside_of_a_batch(tmp_path: Path) -> None:
    folder = project(tmp_path)
    inner = [("write", {"path": "c.txt", "content": "x"}), ("bash", {"command": "touch d.txt"}), ("list", {})]
    async with home(tmp_path, {"go": [batch(*inner), DONE]}, mode=Mode.PLAN) as here:
        await here.session.submit("go")
        assert [result.get("ok") for result in here.result()["results"]] == [False, False, True]
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "b.txt"]


async def test_a_child_may_batch_what_it_may_do(tmp_path: Path) -> None:
    project(tmp_path)
    inner = [("read", {"path": "a.txt"}), ("write", {"path": "c.txt", "content": "x"})]
    script = {
        "go": [task("look", "explore"), DONE],
        "look": [batch(*inner), finish("seen")],
    }
    async with home(tmp_path, script) as here:
        await here.session.submit("go")
        results = json.loads(here.results("look")[0].content)["results"]
        assert [result.get("ok") for result in results] == [True, False]
        assert results[1]["error"]["message"] == (
            "permission denied: the agent explore does not have the tool write"
        )


async def test_what_a_batch_changed_is_kept_for_undo(tmp_path: Path) -> None:
    folder = project(tmp_path)
    inner = [
        ("edit", {"path": "a.txt", "old_string": "one", "new_string": "1"}),
        ("edit", {"path": "b.txt", "old_string": "two", "new_string": "2"}),
    ]
    async with home(tmp_path, {"go": [batch(*inner), DONE]}, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        changed = await here.session.changed_files()
        assert [(file.path.name, file.before, file.after) for file in changed] == [
            ("a.txt", b"one\n", b"1\n"),
            ("b.txt", b"two\n", b"2\n"),
        ]
        stored = await here.core.store.load(here.session.id)
        assert [(call.record.tool, call.outcome) for call in stored.calls.values()] == [
            ("batch", Outcome.OK),
            ("edit", Outcome.OK),
            ("edit", Outcome.OK),
        ]
    assert (folder / "a.txt").read_text() == "1\n"


async def test_large_results_stay_valid_and_bounded(tmp_path: Path) -> None:
    folder = project(tmp_path)
    for number in range(6):
        (folder / f"big{number}.txt").write_text("".join(f"{n} {'x' * 400}\n" for n in range(200)))
    inner = [("read", {"path": f"big{number}.txt", "limit": 200}) for number in range(6)]
    async with home(tmp_path, {"go": [batch(*inner), DONE]}) as here:
        await here.session.submit("go")
        (message,) = here.results("go")
        assert len(message.content) < 80_000
        assert len(json.loads(message.content)["results"]) == 6
