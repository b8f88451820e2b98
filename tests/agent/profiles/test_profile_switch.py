"""Who leads a session: plan mode and its profile go together, and an approved plan ends both."""

from dataclasses import replace
from pathlib import Path

import pytest

from coder_tui.agent.profiles.profiles import Profile, ProfileMode, Switch
from coder_tui.agent.session import Session
from coder_tui.agent.turn.model_request import ModelChoice
from coder_tui.bootstrap.session_factory import SessionFactory
from coder_tui.bootstrap.setup import Setup
from coder_tui.headless import HeadlessRun, JsonPrinter
from coder_tui.policy.rules import Effect, Rule
from coder_tui.protocol.access import Mode
from coder_tui.protocol.errors import UsageError
from coder_tui.protocol.events import ModeChanged, ModelChanged, Notice, ProfileChanged
from coder_tui.storage.store import Store
from tests.fakes.real_tools import setup_in
from tests.fakes.scripted_model import Say, ScriptedModel

REVIEWER = Profile(
    "reviewer",
    "Reviews",
    ProfileMode.ALL,
    "You review.",
    (Switch("kind:edit", is_on=False),),
    model="openai/gpt-5",
)


async def opened(
    tmp_path: Path, *profiles: Profile, mode: Mode = Mode.ASK, replies: tuple[Say, ...] = ()
) -> SessionFactory:
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    setup = setup_in(tmp_path, project, mode)
    setup = replace(setup, profiles=setup.profiles.with_more(profiles))
    store = await Store.open(setup.directories.database)
    return SessionFactory(
        setup, store, ScriptedModel(replies), ModelChoice("anthropic/claude-x", "http://127.0.0.1:9")
    )


def heard(session: Session) -> list[object]:
    events: list[object] = []
    session.subscribe(
        lambda event: events.append(event) if isinstance(event, ModeChanged | ProfileChanged) else None
    )
    return events


async def test_plan_mode_brings_its_profile_and_takes_it_with_it(tmp_path: Path) -> None:
    core = await opened(tmp_path, REVIEWER)
    session = await core.new_session()
    events = heard(session)
    for mode in (Mode.EDITS, Mode.PLAN, Mode.ASK):
        session.set_mode(mode)
    assert events == [
        ModeChanged(Mode.EDITS),
        ModeChanged(Mode.PLAN),
        ProfileChanged("plan"),
        ModeChanged(Mode.ASK),
        ProfileChanged("build"),
    ]
    session.profiles.use("reviewer")
    session.set_mode(Mode.PLAN)
    session.set_mode(Mode.ASK)
    assert session.profiles.current == REVIEWER
    session.profiles.use("plan")
    assert (session.mode, session.profiles.current.name) == (Mode.PLAN, "plan")
    session.profiles.use("build")
    assert (session.mode, session.profiles.current.name) == (Mode.ASK, "build")
    await session.close()
    await core.close()


async def test_a_profiles_own_model_answers_while_it_leads(tmp_path: Path) -> None:
    core = await opened(tmp_path, REVIEWER)
    session = await core.new_session()
    models: list[str] = []
    session.subscribe(lambda event: models.append(event.model) if isinstance(event, ModelChanged) else None)
    session.profiles.use("reviewer")
    request = session.report.context.request
    # The other provider's key must not go to the server of the first.
    assert request.choice == ModelChoice("openai/gpt-5")
    session.profiles.use("build")
    assert request.choice == ModelChoice("anthropic/claude-x", "http://127.0.0.1:9")
    assert models == ["openai/gpt-5", "anthropic/claude-x"]
    await session.close()
    await core.close()


async def test_approving_late_does_not_take_back_a_mode_that_was_chosen_meanwhile(tmp_path: Path) -> None:
    core = await opened(tmp_path, mode=Mode.PLAN)
    session = await core.new_session()
    session.set_mode(Mode.EDITS)
    await session.profiles.approve("# The plan")
    assert (session.mode, session.profiles.plan) == (Mode.EDITS, "# The plan")
    await session.close()
    await core.close()


async def resumed(core: SessionFactory, session: Session, setup: Setup | None = None) -> Session:
    # What was said to be kept is on its way to the disk.
    await core.store.todos.get(session.id)
    await session.close()
    return await replace(core, setup=setup or core.setup).resume(session.id)


async def test_a_resumed_session_is_the_agent_that_it_was_with_its_plan(tmp_path: Path) -> None:
    core = await opened(tmp_path, REVIEWER)
    session = await core.new_session()
    session.set_mode(Mode.PLAN)
    assert await session.profiles.approve("# The plan") == "build"
    session.profiles.use("reviewer")
    later = await resumed(core, session)
    assert (later.profiles.current, later.profiles.plan) == (REVIEWER, "# The plan")
    assert "# The plan" in later.report.context.request(()).system
    await later.close()
    await core.close()


async def test_an_agent_whose_file_is_gone_is_reported(tmp_path: Path) -> None:
    core = await opened(tmp_path, REVIEWER)
    session = await core.new_session()
    session.profiles.use("reviewer")
    bare = setup_in(tmp_path, core.setup.directory, Mode.ASK)
    later = await resumed(core, session, bare)
    notices = [event.text for event in later.history() if isinstance(event, Notice)]
    assert later.profiles.current.name == "build"
    assert notices == [
        "This session ran as the agent reviewer: there is no agent 'reviewer'; "
        "there are build, plan, general, explore, verify."
    ]
    await later.close()
    await core.close()


async def test_an_agent_that_was_asked_for_begins(tmp_path: Path) -> None:
    core = await opened(tmp_path, REVIEWER)
    session = await replace(core, setup=replace(core.setup, agent="reviewer")).new_session()
    assert ProfileChanged("reviewer") in session.history()
    with pytest.raises(UsageError, match="sub-agent"):
        session.profiles.use("explore")
    await session.close()
    await core.close()


async def test_a_tool_that_a_profile_does_not_have_is_hidden_and_denied(tmp_path: Path) -> None:
    call = Say(calls=(("write", {"path": "new.txt", "content": "x"}), ("question", {"questions": []})))
    core = await opened(tmp_path, REVIEWER, mode=Mode.EDITS, replies=(call, Say("done")))
    session = await core.new_session()
    session.profiles.use("reviewer")
    offered = {tool.name for tool in session.report.context.request.offered()}
    assert not {"write", "edit", "apply_patch"} & offered
    assert {"read", "bash", "question"} <= offered
    await session.submit("go")
    decisions = [
        (each.tool, each.effect, each.rule, each.source) for each in await session.report.decisions()
    ]
    assert decisions == [("write", "deny", "write = off", "agent reviewer")]
    assert not (core.setup.directory / "new.txt").exists()
    await session.close()
    await core.close()


async def test_what_the_user_names_or_runs_needs_no_tool_of_the_agents(tmp_path: Path) -> None:
    poor = Profile("poor", "Has nothing", ProfileMode.ALL, "X.", (Switch("*", is_on=False),))
    core = await opened(tmp_path, poor, replies=(Say("done"),))
    (core.setup.directory / "a.txt").write_text("one\n")
    session = await core.new_session()
    session.profiles.use("poor")
    await session.submit("look at @a.txt")
    (message,) = (each for each in session.report.context.conversation.messages if each.role == "user")
    assert [(each.label, each.text) for each in message.attachments] == [("a.txt", "one")]
    await session.shell.run("touch made", is_shared=False)
    assert (core.setup.directory / "made").exists()
    await session.close()
    await core.close()


async def test_a_profiles_layer_tightens_and_never_loosens(tmp_path: Path) -> None:
    rules = (
        Rule("bash", "*", Effect.DENY, "x.md"),
        Rule("bash", "ls*", Effect.ALLOW, "x.md"),
        Rule("edit", "*", Effect.ALLOW, "x.md"),
    )
    core = await opened(tmp_path, Profile("x", "X", ProfileMode.ALL, "X.", rules=rules))
    calls = (
        ("bash", {"command": "touch a"}),
        ("bash", {"command": "ls"}),
        ("write", {"path": "b", "content": "x"}),
    )
    core = replace(core, client=ScriptedModel((Say(calls=calls), Say("done"))))
    session = await core.new_session()
    session.profiles.use("x")
    result = await HeadlessRun(session, JsonPrinter(lambda body: None)).run("go")
    decisions = [(each.tool, each.effect) for each in await session.report.decisions()]
    # Without its exception `ls` asks as it does anyway, and edits that it allows still ask.
    assert decisions == [("bash", "deny"), ("bash", "ask"), ("write", "ask")]
    assert len(result.refused) == 2
    await session.close()
    await core.close()
