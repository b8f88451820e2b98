"""Hooks in a whole core: sub-agents, compaction, messages, and what they change under undo."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from coder_tui.agent.hooks.runner import Hook, HookEvent
from coder_tui.agent.subagents import GO_ON
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import Notice, TurnFailed
from tests.fakes.family import DONE, calls, finish, home, task
from tests.fakes.scripted_model import Say


def hook(event: HookEvent, command: str, matcher: str = "") -> Hook:
    return Hook(event, command, matcher, source="settings", is_confined=False)


async def test_a_sub_agent_goes_on_once_and_its_calls_are_hooked_as_well(tmp_path: Path) -> None:
    script = {
        "go": [task("look"), DONE],
        "look": [calls("list"), finish("half"), finish("all of it")],
    }
    hooks = (
        hook(HookEvent.SUBAGENT_STOP, "echo look again >&2; exit 2"),
        hook(HookEvent.PRE_TOOL_USE, "echo no lists >&2; exit 2", "list"),
    )
    async with home(tmp_path, script, hooks=hooks) as here:
        await here.session.submit("go")
        assert here.result() == {"ok": True, "agent": "general", "summary": "all of it"}
        assert here.results("look")[0].content.count("no lists") == 1
        assert f"{GO_ON}\n\nlook again" in [
            getattr(message, "text", "") for message in here.model.requests["look"][-1].messages
        ]


async def test_what_a_hook_changes_after_an_edit_is_undone_with_the_turn(tmp_path: Path) -> None:
    script = {"go": [calls("write", path="a.txt", content="mine"), DONE]}
    formats = hook(
        HookEvent.POST_TOOL_USE, "cat > /dev/null; echo formatted > a.txt; echo x > b.txt", "write"
    )
    async with home(tmp_path, script, mode=Mode.EDITS, hooks=(formats,)) as here:
        await here.session.submit("go")
        assert (here.project / "a.txt").read_text() == "formatted\n"
        await here.session.turns.undo()
        assert [name for name in ("a.txt", "b.txt") if (here.project / name).exists()] == []


async def test_a_message_that_is_kept_is_not_stored(tmp_path: Path) -> None:
    keeps = hook(HookEvent.USER_PROMPT_SUBMIT, "echo not today >&2; exit 2")
    async with home(tmp_path, {}, hooks=(keeps,)) as here:
        await here.session.submit("go")
        (failed,) = (event for event in here.events if isinstance(event, TurnFailed))
        assert failed.message.endswith("kept this message: not today")
        assert here.session.report.context.conversation.messages == ()


async def test_compaction_asks_first(tmp_path: Path) -> None:
    long = Say(" ".join(f"w{number}" for number in range(4_000)))
    script = {"go": [long, long]}
    keeps = hook(HookEvent.PRE_COMPACT, "echo not now >&2; exit 2", "manual")
    async with home(tmp_path, script, hooks=(keeps,)) as here:
        await here.session.submit("go")
        await here.session.submit("more")
        with pytest.raises(UserError, match="a hook says: not now"):
            await here.session.compaction.compact()
        assert [event for event in here.events if isinstance(event, Notice) and "not now" in event.text]


async def test_whoever_waits_for_the_user_is_reported(tmp_path: Path) -> None:
    script = {"go": [calls("bash", command="true"), DONE]}
    rings = hook(HookEvent.NOTIFICATION, "cat > bell", "permission_prompt")
    async with home(tmp_path, script, hooks=(rings,)) as here:
        os.mkfifo(here.project / "bell")
        turn = asyncio.create_task(here.session.submit("go"))
        reported = json.loads(await asyncio.to_thread((here.project / "bell").read_text))
        assert reported["message"] == "coder-tui waits for you: Run this command?"
        here.session.interrupt()
        await turn
