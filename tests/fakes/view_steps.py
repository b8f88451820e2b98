"""Ways to bring the app where a view shows something."""

from collections.abc import Awaitable, Callable

from coder_tui.mcp.wire import ServerState
from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.events import (
    Notice,
    RequestOpened,
    SubagentEvent,
    SubagentStarted,
    TextDelta,
    ThinkingDelta,
    ToolProgressed,
    ToolStarted,
    TurnFailed,
    TurnStarted,
)
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.subagents import ChildLine, ChildState
from coder_tui.shell.jobs import JobState
from coder_tui.skills.discover import Root
from coder_tui.skills.skill import SkillSource
from coder_tui.ui.lists.picker import PickerScreen
from coder_tui.ui.requests.guarded_screen import GuardedScreen, RequestScreen
from coder_tui.ui.requests.questions import QuestionsScreen
from coder_tui.ui.requests.trust import TrustScreen
from coder_tui.ui.review.screen import ReviewScreen
from tests.fakes.mcp_views import shown_servers, view
from tests.fakes.sample_work import COMMAND, EDIT
from tests.fakes.screens import Stage
from tests.fakes.skill_files import put_skill, session_skills_of

Opens = Callable[[Stage], Awaitable[None]]


async def nothing(s: Stage) -> None:
    """The session as it stands."""


def keys(*pressed: str, shows: str = "") -> Opens:
    async def run(s: Stage) -> None:
        await s.pilot.press(*pressed)
        await s.until(lambda: shows in s.drawn())

    return run


def action(name: str, shows: str, *pressed: str) -> Opens:
    async def run(s: Stage) -> None:
        await s.app.run_action(name)
        await s.until(lambda: s.app.screen is not s.screen)
        if isinstance(s.app.screen, PickerScreen):
            picker = s.app.screen
            await s.until(lambda: picker.list.marked is not None)
        await s.pilot.press(*pressed)
        await s.until(lambda: shows in s.drawn())

    return run


def asked(*pressed: str, shows: str = "ready") -> Opens:
    """Keys for an open request, each in a moment of its own."""

    async def run(s: Stage) -> None:
        for key in pressed:
            await s.until(lambda: is_listening(s))
            await s.pilot.press(key)
        await s.until(lambda: is_listening(s) and shows in s.drawn())

    return run


def is_listening(s: Stage) -> bool:
    """Whether the next key would be taken by itself, not as part of what was typed before."""
    match s.app.screen:
        case GuardedScreen(guard=guard) as top:
            return not guard._pending and (top.is_ready or top.focused is not None)
        case QuestionsScreen(guard=guard) as top:
            return not guard.has_burst and (top.is_ready or top.focused is not None)
        case RequestScreen() as top:
            return top.is_ready
        case _:
            return False


async def stream(s: Stage) -> None:
    s.app.run_worker(s.session.submit("now with Decimal amounts"))
    await s.until(lambda: s.session.is_busy)
    s.session.emit(
        ThinkingDelta("m9", "Decimal does not mix with float: every price has to be one."),
        TextDelta(
            "m9", "Prices become `Decimal`; **every** caller has to give them so:\n\n1. carts\n2. invo"
        ),
        ToolStarted("c20", "bash", ToolKind.EXECUTE, "pytest -q tests"),
        ToolProgressed("c20", "collected 41 items\ntests/test_cart.py ........\ntests/test_invoices.py ..."),
    )
    await s.session.submit("and the invoices too")
    await s.until(lambda: "test_invoices" in s.drawn() and "queued" in s.drawn())


async def fail(s: Stage) -> None:
    s.session.emit(
        Notice(NoticeLevel.INFO, "Language servers for Python are not installed."),
        Notice(NoticeLevel.WARNING, "The folder is not under version control: undo ends with this session."),
        TurnFailed(1, "The model did not answer within 60 seconds.", "Send the message again."),
    )
    s.screen.widgets.hints.show("Draft saved. Press Up to get it back.", 600)
    await s.until(lambda: "did not answer" in s.drawn() and "Draft saved" in s.drawn())


async def wait_next_to_a_draft(s: Stage) -> None:
    await s.pilot.press(*"also the invoices")
    s.session.emit(RequestOpened(EDIT), RequestOpened(COMMAND))
    await s.until(lambda: "waiting for you" in s.drawn())


async def all_states(s: Stage) -> None:
    await s.pilot.press("x")
    s.session.emit(ToolProgressed("c7", "collected 41 items\ntests/test_cart.py ...."), RequestOpened(EDIT))
    await s.until(lambda: "waiting" in s.drawn() and "collected" in s.drawn())


async def review(s: Stage) -> None:
    s.screen.body.open_review()
    await s.until(lambda: isinstance(s.app.screen, ReviewScreen) and s.app.screen.is_loaded)
    await s.pilot.press("n", "y", "c", *"why not Decimal?", "enter")
    await s.until(lambda: "why not Decimal?" in s.drawn())


async def comment(s: Stage) -> None:
    await review(s)
    await s.pilot.press("c", *" say so in the docs")
    await s.until(lambda: "in the docs" in s.drawn())


async def files(s: Stage) -> None:
    await s.pilot.press(*"look at @cart")
    completer = s.screen.widgets.composing.completer
    await s.until(lambda: completer.is_open and completer.is_settled)
    await s.pilot.press("down")


async def trusted(s: Stage) -> None:
    await s.until(lambda: isinstance(s.app.screen, TrustScreen) and s.app.screen.is_ready)


async def log(s: Stage) -> None:
    # Not by `show`: the time of day would be in the picture.
    s.screen.widgets.hints._said.append("13:16:22  Draft saved. Press Up to get it back.")
    await action("screen.run('log')", "Draft saved")(s)


async def begin(s: Stage) -> None:
    """The question for a model."""
    await s.until(lambda: isinstance(s.app.screen, PickerScreen) and s.app.screen.list.marked is not None)


async def mcp(s: Stage) -> None:
    s.session.mcp, _ = shown_servers(
        view("everything", ServerState.READY),
        view("slow", ServerState.STARTING),
        view("broken", ServerState.FAILED, "program not found: no-such-server"),
        view("hosted", ServerState.NEEDS_LOGIN, "it needs a login", url="https://mcp.example.org"),
    )
    await action("screen.run('mcp')", "everything")(s)


async def jobs(s: Stage) -> None:
    server = JobState("job_1", "npm run dev", True, None, 75.0)
    s.session.jobs.show(server, JobState("job_2", "make all", False, 2, 3.0))
    await action("screen.run('jobs')", "npm run dev")(s)


async def subagents(s: Stage) -> None:
    running = ChildLine("k1", "explore", "find callers", ChildState.RUNNING, "grep  share", cost=0.25)
    done = ChildLine("k2", "general", "fix it", ChildState.OK, summary="fixed in cart.py", seconds=9)
    s.session.subagents.rows = (running, done)
    await action("screen.run('subagents')", "find callers")(s)


async def fork(s: Stage) -> None:
    def of(child: str, agent: str, *events: SubagentStarted | TurnStarted | ToolStarted) -> None:
        s.session.emit(*(SubagentEvent("f", child, agent, event) for event in events))

    s.session.emit(ToolStarted("f", "fork", ToolKind.OTHER, "2 tasks: explore, general"))
    looking = ToolStarted("c", "grep", ToolKind.SEARCH, "share(")
    of("k1", "explore", SubagentStarted("find all callers of share()", "m"), TurnStarted(1), looking)
    of("k2", "general", SubagentStarted("write the tests", "m"))
    await s.until(lambda: "queued" in s.drawn())


async def skills(s: Stage) -> None:
    folder = s.screen.directory / "skills"
    put_skill(folder, "debug", "Finds causes by looking before changing anything.")
    put_skill(folder, "deploy", "Ships it.")
    put_skill(folder, "secret")
    roots = (Root(folder, SkillSource.USER),)
    s.session.report.skills = session_skills_of(*roots, denied=("secret",))
    await action("screen.run('skills')", "deploy")(s)
