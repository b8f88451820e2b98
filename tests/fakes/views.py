"""Every screen of the program in a state that people meet, for pictures and for checks over all of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from coder_tui.protocol.events import Event, RequestOpened
from coder_tui.protocol.requests import Request
from coder_tui.ui.app import CoderApp
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.first_run import FirstRunState, KeyState
from coder_tui.ui.launch import Launch
from coder_tui.ui.panes.names import PaneName
from coder_tui.ui.themes import own_themes
from tests.fakes.fake_session import FakeSession
from tests.fakes.library import FakeLibrary, stored
from tests.fakes.questions import plan, questions
from tests.fakes.sample_work import (
    CALLS,
    COMMAND,
    DISGUISED,
    EDIT,
    FILES,
    FOREIGN,
    INVENTORY,
    LONG_REPLY,
    ROOT,
    SECRET,
    WORK,
)
from tests.fakes.screens import Stage, launch_for
from tests.fakes.trusting import Trusting
from tests.fakes.view_steps import (
    Opens,
    action,
    all_states,
    asked,
    begin,
    comment,
    fail,
    files,
    fork,
    is_listening,
    jobs,
    keys,
    log,
    mcp,
    nothing,
    review,
    skills,
    stream,
    subagents,
    trusted,
    wait_next_to_a_draft,
)

PLAN = f"# Make sharing safe\n\n{LONG_REPLY.partition('# Sharing a cart')[2].lstrip()}"
NAMES = (
    *("cart.py", "docs/carts.md", "tests/test_cart.py", "購物/cart_車.py"),
    "src/shop/carts/very/deep/folders/of/a/large/project/share_the_cart_among_people.py",
)
LIBRARY = FakeLibrary(
    stored("s-1", "present work", 1),
    stored("a1", "share the cart among people", 2),
    stored("b2", "read invoices as CSV, whatever the separator is and wherever the decimal comma", 30),
)


class NoModel:
    """Somebody's first start."""

    async def question(self) -> FirstRunState | None:
        anthropic = KeyState("anthropic", "Anthropic", "ANTHROPIC_API_KEY")
        openai = KeyState("openai", "OpenAI", "OPENAI_API_KEY")
        return FirstRunState((anthropic, openai), has_trust_question=True)

    async def keep_key(self, provider: str, key: str) -> str:
        return "It is in the keyring."


@dataclass(frozen=True, slots=True)
class View:
    """`opens` brings the app there. `asks` are requests: where there is a draft, they wait for F8."""

    opens: Opens
    earlier: tuple[Event, ...] = WORK
    asks: tuple[Request, ...] = ()
    at_start: bool = False
    """Whether it comes before there is a session."""
    is_modal: bool = False
    escapes: int = 1
    """How often Esc leads back to the session."""
    size: tuple[int, int] | None = None
    """Where it only makes sense at one."""


def _approval(*asks: Request, pressed: tuple[str, ...] = (), shows: str = "ready", escapes: int = 1) -> View:
    return View(asked(*pressed, shows=shows), asks=asks, is_modal=True, escapes=escapes)


def _over(opens: Opens, escapes: int = 1) -> View:
    return View(opens, is_modal=True, escapes=escapes)


VIEWS: dict[str, View] = {
    "session": View(nothing),
    "empty": View(nothing, earlier=()),
    "streaming": View(stream),
    "calls": View(all_states, earlier=CALLS),
    "fork": View(fork),
    "browsing": View(keys("tab", "k")),
    "searching": View(keys("tab", "g", "slash", *"share", shows="/share")),
    "failed": View(fail),
    "waiting-card": View(wait_next_to_a_draft),
    "changes": View(keys("f3", shows="cart.py")),
    "todo": View(keys("f4", shows="guard share()")),
    "problems": View(keys("f5", shows="not defined")),
    "files": View(files),
    "commands": View(keys(*"/co", "down", shows="/copy")),
    "history": View(keys("ctrl+r")),
    "approval-edit": _approval(EDIT),
    "approval-hunk": _approval(EDIT, pressed=("right_square_bracket", "x"), shows="refused"),
    "approval-whole": _approval(EDIT, pressed=("v",)),
    "approval-command": _approval(COMMAND),
    "approval-disguised": _approval(DISGUISED, COMMAND, FOREIGN, pressed=()),
    "approval-other": _approval(FOREIGN),
    "approval-info": _approval(SECRET),
    "approval-scopes": _approval(COMMAND, pressed=("a", "2"), shows="1-4 pick", escapes=2),
    "approval-why": _approval(COMMAND, pressed=("question_mark",), escapes=2),
    "approval-reason": _approval(COMMAND, pressed=("d",), shows="Why not?", escapes=2),
    "questions": _approval(questions(), pressed=("down", "enter", "space", "down")),
    "questions-words": _approval(questions(), pressed=("3", *"both, by a setting"), shows="by a setting"),
    "questions-review": _approval(questions(), pressed=("down", "enter", "ctrl+y")),
    "plan": _approval(plan(PLAN)),
    "plan-words": _approval(plan(PLAN), pressed=("d",), shows="Esc", escapes=2),
    "waiting": _approval(COMMAND, DISGUISED, questions(), plan(PLAN), pressed=("f8", "space")),
    "trust": View(trusted, earlier=(), at_start=True, is_modal=True),
    "first-run": View(begin, earlier=(), at_start=True, is_modal=True),
    "review": _over(review),
    "review-comment": _over(comment, escapes=2),
    "sessions": _over(action("screen.run('sessions')", "read invoices")),
    "models": _over(action("screen.run('models')", "ollama/qwen")),
    "modes": _over(action("screen.run('modes')", "makes a plan")),
    "themes": _over(action("screen.run('themes')", "solarized-light")),
    "palette": _over(action("app.command_palette", "Help")),
    "palette-search": _over(action("app.command_palette", "Show problems", *"prob"), escapes=2),
    "agents": _over(action("screen.run('agents')", "build")),
    "files-picker": _over(action("screen.run('files')", "test_cart.py")),
    "skills": _over(skills),
    "jobs": _over(jobs),
    "mcp": _over(mcp),
    "subagents": _over(subagents),
    "help": _over(action("app.help", "Session")),
    "pager": _over(keys("tab", "g", "j", "j", "v", "slash", *"share", "enter", shows="1 of"), escapes=2),
    "log": _over(log),
    "too-small": View(nothing, size=(28, 7)),
}


@asynccontextmanager
async def shown(name: str, size: tuple[int, int]) -> AsyncIterator[Stage]:
    """The app with that view open, at rest."""
    async with prepared(name, size) as s:
        await opened(s, VIEWS[name])
        yield s


@asynccontextmanager
async def prepared(name: str, size: tuple[int, int]) -> AsyncIterator[Stage]:
    """The app with the session that the view is of."""
    view = VIEWS[name]
    session = FakeSession(ROOT, view.earlier)
    session.files = FILES if view.earlier else ()
    app = CoderApp(_launch(name, session))
    with TemporaryDirectory() as folder:
        async with app.run_test(size=view.size or size) as pilot:
            s = Stage(app, pilot, session)
            if not view.at_start:
                await begun(s)
                # Shown is one folder, listed another: a picture must not hold the name of a passing one.
                s.screen.directory = _project(Path(folder))
            yield s


def _launch(name: str, session: FakeSession) -> Launch:
    launch = replace(launch_for(session), library=lambda: LIBRARY, has_motion=False)
    match name:
        case "trust":
            return replace(launch, trust=Trusting(INVENTORY))
        case "first-run":
            return replace(launch, first_run=NoModel())
        case _:
            return launch


async def begun(s: Stage) -> None:
    """The session is there, and so is what is loaded behind the first paint."""
    screen = s.screen
    await s.until(lambda: screen.widgets.sender.session is not None and len(own_themes(s.app)) > 1)
    if len(s.session.history()) > 1:
        await s.until(lambda: bool(screen.widgets.dock.count(PaneName.CHANGES)))
    await s.pilot.pause()


async def opened(s: Stage, view: View) -> None:
    if view.asks:
        s.session.emit(*map(RequestOpened, view.asks))
        if s.draft:
            await s.pilot.press("f8")
        await s.until(lambda: is_listening(s))
    await view.opens(s)
    await at_rest(s)


async def at_rest(s: Stage) -> None:
    """Nothing is left to colour or to lay out."""
    await s.pilot.pause()
    await s.until(lambda: not any(view.coloring.is_running for view in s.app.screen.query(DiffView)))
    await s.pilot.pause()


def _project(folder: Path) -> Path:
    for name in NAMES:
        (folder / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "project" / name).write_text("x")
    return folder / "project"
