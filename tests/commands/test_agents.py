"""Commands about who works, and what fills the window."""

from pathlib import Path

from coder_tui.agent.profiles.profiles import prompt_text
from coder_tui.commands.base import OpenScreen, Say, ScreenName, Submit
from coder_tui.commands.session import INIT_CHANGES, PLANNING
from coder_tui.protocol.access import Mode
from coder_tui.protocol.outcomes import NoticeLevel
from tests.commands.test_builtin import run, said
from tests.fakes.scripted_model import Say as ModelSays
from tests.fakes.world import world


async def test_plan_and_build_lead_there_and_back(tmp_path: Path) -> None:
    async with world(tmp_path, []) as made:
        session = made.session
        assert await run(session, "/plan") == Say(PLANNING)
        assert (session.mode, session.profiles.current.name) == (Mode.PLAN, "plan")
        assert await run(session, "/build") == Say("The agent is now build, in mode ask.")
        assert (session.mode, session.profiles.current.name) == (Mode.ASK, "build")
        assert await run(session, "/plan fix the cart") == Submit("fix the cart")
        assert session.mode is Mode.PLAN


async def test_an_agent_is_chosen_by_name_or_from_a_list(tmp_path: Path) -> None:
    async with world(tmp_path, []) as made:
        assert await run(made.session, "/agent") == OpenScreen(ScreenName.AGENTS)
        assert (await said(made.session, "/agent plan")).startswith("The agent is now plan")
        assert made.session.mode is Mode.PLAN
        assert await run(made.session, "/agent bild") == Say(
            "there is no agent 'bild'; did you mean build?", NoticeLevel.WARNING
        )
        assert "is a sub-agent" in await said(made.session, "/agent explore")
        assert made.session.profiles.current.name == "plan"


async def test_init_asks_the_model_for_a_file_but_not_in_plan_mode(tmp_path: Path) -> None:
    async with world(tmp_path, []) as made:
        assert await run(made.session, "/init") == Submit(prompt_text("init"))
        assert await run(made.session, "/init in German") == Submit(
            f"{prompt_text('init')}\n\nBesides: in German"
        )
        made.session.set_mode(Mode.PLAN)
        assert await run(made.session, "/init") == Say(INIT_CHANGES, NoticeLevel.WARNING)


async def test_context_tells_what_fills_the_window_by_part(tmp_path: Path) -> None:
    replies = [ModelSays(calls=(("look", {"text": "x" * 3600}),)), ModelSays("done")]
    async with world(tmp_path, replies) as made:
        made.session.set_context_window(10_000)
        await made.session.submit("go")
        lines = [line.split() for line in (await said(made.session, "/context")).splitlines()[1:]]
        rows = {" ".join(words[:-3]): int(words[-3].replace(",", "")) for words in lines}
        assert list(rows) == [
            *("tool definitions", "system prompt", "your messages", "replies and calls", "tool results"),
            "free",
        ]
        assert 900 < rows["tool results"] < 1_100
        assert sum(rows.values()) == 10_000
