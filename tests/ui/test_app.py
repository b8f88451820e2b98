"""Start, palette, help and the ways out."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
from textual import events
from textual.screen import Screen

from coder_tui.agent.session import Session
from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ConfigError, StorageError
from coder_tui.protocol.events import (
    MessageFinished,
    QueueChanged,
    RequestClosed,
    RequestOpened,
    SessionRenamed,
    TodosChanged,
    ToolFinished,
)
from coder_tui.protocol.outcomes import Outcome
from coder_tui.protocol.todos import TodoItem, TodoPriority, TodoStatus
from coder_tui.ui.app import CoderApp
from coder_tui.ui.diff.view import DiffView
from coder_tui.ui.first_run import FirstRunScreen
from coder_tui.ui.keys import KEYS, Context
from coder_tui.ui.launch import Launch
from coder_tui.ui.lists.background import JobsScreen, SubagentsScreen
from coder_tui.ui.lists.choosers import FilesScreen, ThemesScreen
from coder_tui.ui.lists.help import HelpScreen, help_items, palette_entries
from coder_tui.ui.lists.picker import PickerScreen
from coder_tui.ui.lists.row_list import RowList
from coder_tui.ui.lists.servers import LspScreen, McpScreen
from coder_tui.ui.lists.sessions import SessionsScreen
from coder_tui.ui.panes.changes import ChangesList
from coder_tui.ui.panes.pane import Pane
from coder_tui.ui.panes.problems import ProblemsList
from coder_tui.ui.replay import ReplayScreen
from coder_tui.ui.requests.approval import ApprovalScreen
from coder_tui.ui.requests.pending import PendingScreen
from coder_tui.ui.requests.plan import PlanScreen
from coder_tui.ui.requests.questions import QuestionsScreen
from coder_tui.ui.review.screen import ReviewScreen
from coder_tui.ui.transcript.pager import Pager
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, launch_for, shell_request, stage

BACK = "coder-tui --resume s-1 /srv/project"
"""The folder is named if it is not the current one."""


def last_words(app: CoderApp) -> str:
    return "\n".join(str(line) for line in app._exit_renderables)


async def test_a_session_that_cannot_open_ends_with_one_sentence_and_its_code() -> None:
    async def broken() -> Session:
        raise ConfigError("config.toml, line 3: no such key modle.")

    app = CoderApp(Launch(Path("/srv"), "coder-dark", False, broken))
    async with app.run_test() as pilot:
        await Stage(app, pilot, FakeSession()).until(lambda: app.return_code == 2)
        assert last_words(app) == "coder-tui: config.toml, line 3: no such key modle."


async def test_leaving_closes_the_session_and_says_how_to_resume_it() -> None:
    async with stage() as s:
        s.session.emit(SessionRenamed("fix \x1b[31m[b]div"))
        s.session.verifier.newest = "check failed: make [b]test"
        await s.pilot.press("ctrl+d")
        await s.until(lambda: s.app.return_code == 0)
        assert s.session.is_closed
        assert last_words(s.app) == f"fix ␛[31m[b]div\ncheck failed: make [b]test\n{BACK}"


async def test_leaving_twice_at_once_leaves_once() -> None:
    async with stage() as s:
        s.session.emit(SessionRenamed("work"))
        for _ in range(2):
            s.app.post_message(events.Key("ctrl+d", None))
        await s.until(lambda: s.app.return_code == 0)
        assert last_words(s.app) == f"work\n{BACK}"


async def test_a_session_that_cannot_be_closed_says_so() -> None:
    async with stage() as s:
        s.session.fails_to_close = StorageError("The disk is full.")
        await s.pilot.press("ctrl+d")
        await s.until(lambda: s.app.return_code == 1)
        assert last_words(s.app) == "coder-tui: The disk is full."


async def test_leaving_an_untouched_session_says_nothing() -> None:
    async with stage() as s:
        await s.app.action_quit()
        assert last_words(s.app) == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_closes_the_session_and_ends_with_143(number: signal.Signals) -> None:
    async with stage() as s:
        os.kill(os.getpid(), number)
        await s.until(lambda: s.app.return_code == 143)
        assert s.session.is_closed


async def test_an_unknown_theme_is_reported_and_the_default_is_used() -> None:
    session = FakeSession()
    async with stage(session, launch=launch_for(session, theme="neon")) as s:
        assert s.app.theme == "coder-dark"
        await s.shows("There is no theme neon.")


async def test_a_user_theme_without_our_names_still_draws(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('primary = "#aa3366"\n')
    session = FakeSession()
    launch = replace(launch_for(session, theme="mine"), theme_directory=tmp_path)
    async with stage(session, launch=launch) as s:
        assert s.app.theme == "mine"
        await s.shows("ASK")


def not_ascii(s: Stage) -> list[str]:
    return [line for line in s.drawn().splitlines() if not line.isascii()]


@pytest.mark.parametrize("width", [80, 150])
async def test_a_plain_terminal_gets_plain_signs_only(width: int) -> None:
    session = FakeSession()
    todos = (TodoItem("1", "guard", TodoStatus.IN_PROGRESS, TodoPriority.LOW),)
    async with stage(session, (width, 30), launch_for(session, use_ascii=True)) as s:
        await s.pilot.press(*"go", "enter")
        session.emit(TodosChanged(todos), MessageFinished("m", "- one\n- two\n", ""))
        await s.shows("two")
        assert not_ascii(s) == []
        await s.pilot.press("f4")
        await s.shows("guard")
        assert not_ascii(s) == []
        await s.pilot.press("f2")
        session.emit(
            QueueChanged(("word " * 60,)), RequestOpened(replace(shell_request(), summary="x " * 99))
        )
        await s.pilot.press("z")
        await s.until(lambda: "F8 answer" in s.drawn() and "queued" in s.drawn())
        assert not_ascii(s) == []
        session.emit(ToolFinished("c", "bash", Outcome.OK, f"make {'all ' * 60}…", TextBlock("a"), 1))
        await s.pilot.press("ctrl+p")
        await s.shows("Repaint the screen")
        assert not_ascii(s) == []
        await s.pilot.press("escape", "f1")
        await s.shows("Keys")
        assert not_ascii(s) == []
        await s.pilot.press("escape", "f8")
        await s.shows("Run this command?")
        assert not_ascii(s) == []


async def test_help_lists_every_action_and_escape_closes_it() -> None:
    async with stage(size=(100, 30)) as s:
        await s.pilot.press(*"draft", "f1")
        await s.until(lambda: isinstance(s.app.screen, HelpScreen) and "Keys" in s.drawn())
        here = [row for row in KEYS if row.context is not Context.REPLAY]
        listed = {row.title for row in here if row.keys and row.in_help}
        assert {item.label for item in help_items(KEYS, Context.SESSION)} == listed
        seen, before = "", -1
        picker = s.app.screen
        assert isinstance(picker, HelpScreen)
        await s.pilot.press("home")
        while picker.list.cursor != before:
            await s.pilot.pause()
            seen, before = seen + s.drawn(), picker.list.cursor
            await s.pilot.press("pagedown")
        assert [title for title in listed if title not in seen] == []
        await s.pilot.press("escape")
        assert s.app.screen is s.screen
        assert (s.screen.focused, s.draft) == (s.screen.prompt, "draft")


async def test_the_palette_offers_every_action_that_is_not_bound_to_a_place() -> None:
    def titles(s: Stage) -> set[str]:
        return {entry.title for entry in palette_entries(s.app, KEYS, s.screen)}

    async with stage() as s:
        expected = {row.title for row in KEYS if row.in_palette} | {"Theme coder-light"}
        assert expected - titles(s) == {"Answer the waiting request"}
        await s.pilot.press("x")
        s.session.emit(RequestOpened(shell_request()))
        assert expected <= titles(s)
        s.session.emit(RequestClosed("r1", None))
        await s.pilot.press("ctrl+p")
        await s.pilot.press(*"coder-light", "enter")
        await s.until(lambda: s.app.theme == "coder-light")


def _is_screen(holder: object) -> bool:
    return isinstance(holder, type) and issubclass(holder, Screen)


async def test_every_bound_action_exists() -> None:
    async with stage() as s:
        focused: dict[Context, object] = {
            Context.COMPOSER: s.screen.prompt,
            Context.TRANSCRIPT: s.screen.transcript.view,
            Context.PAGER: Pager,
            Context.DIFF: DiffView,
            Context.PICKER: PickerScreen,
            Context.SESSIONS: SessionsScreen,
            Context.FILES: FilesScreen,
            Context.THEMES: ThemesScreen,
            Context.JOBS: JobsScreen,
            Context.FIRST_RUN: FirstRunScreen,
            Context.SUBAGENTS: SubagentsScreen,
            Context.HELP: HelpScreen,
            Context.MCP: McpScreen,
            Context.LSP: LspScreen,
            Context.REPLAY: ReplayScreen,
            Context.REVIEW: ReviewScreen,
            Context.WAITING: PendingScreen,
            Context.APPROVAL: ApprovalScreen,
            Context.QUESTIONS: QuestionsScreen,
            Context.PLAN: PlanScreen,
            Context.PANE: Pane,
            Context.LIST: RowList,
            Context.CHANGES: ChangesList,
            Context.PROBLEMS: ProblemsList,
        }
        missing = []
        for row in KEYS:
            namespace, _, name = row.action.partition("(")[0].rpartition(".")
            own = focused.get(row.context)
            holder = s.app if namespace == "app" else s.screen if namespace and not _is_screen(own) else own
            if name and not hasattr(holder, f"action_{name}"):
                missing.append(row.id)
        assert missing == []


async def test_our_keys_are_the_only_ones_the_app_binds() -> None:
    async with stage() as s:
        assert "ctrl+q" not in s.screen.active_bindings


def test_the_first_paint_needs_neither_agent_nor_pydantic_nor_highlighters() -> None:
    code = "import sys, coder_tui.ui.app; print('\\n'.join(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = ("pydantic", "litellm", "mcp", "pygls", "httpx", "pygments", "markdown_it", "coder_tui.agent")
    assert [name for name in loaded if name.startswith(heavy)] == []


def test_textual_runs_at_our_frame_rate_and_commands_do_not_inherit_it() -> None:
    code = "import os, coder_tui.ui as ui; print(ui.FRAMES_PER_SECOND, 'TEXTUAL_FPS' in os.environ)"
    environment = {key: value for key, value in os.environ.items() if key != "TEXTUAL_FPS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "1000 False\n"


UI = Path(sys.modules[CoderApp.__module__].__file__ or "").parent


class Unfocused(CoderApp):
    """In a browser's tab, or a window behind another."""

    CSS_PATH: ClassVar = [UI / name for name in CoderApp.CSS_PATH]

    def on_mount(self) -> None:
        super().on_mount()
        self.call_later(self.post_message, events.AppBlur())


async def test_a_session_is_opened_in_a_terminal_that_has_no_focus_yet() -> None:
    opened: list[Session] = []
    launch = launch_for(FakeSession(Path("/srv/project")))

    async def open_session() -> Session:
        opened.append(await launch.open_session())
        return opened[-1]

    app = Unfocused(replace(launch, open_session=open_session))
    async with app.run_test(size=(100, 30)) as pilot:
        await Stage(app, pilot, FakeSession(Path("/srv/project"))).until(lambda: bool(opened))
        assert app.focused is None
