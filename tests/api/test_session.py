"""The Python API, in a separate process if settings matter."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from coder_tui import Session
from coder_tui.bootstrap import open_session
from coder_tui.llm.demo import DemoClient
from coder_tui.protocol.errors import UsageError, UserError
from coder_tui.protocol.events import RequestOpened, ToolFinished, TurnFinished
from coder_tui.protocol.outcomes import Outcome, TurnOutcome
from coder_tui.protocol.requests import ApprovalReply, ApprovalRequest, Decision
from coder_tui.resources import sample_project
from tests.fakes.program import NO_SERVERS, Program

PAGE = Path(__file__).parents[2] / "docs/python.md"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Copy the sample project, which the demo model knows, without the machine's own settings."""
    folder = tmp_path / "shop"
    shutil.copytree(sample_project(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in tuple(os.environ):
        if name.startswith("CODER_TUI_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CODER_TUI_LSP", NO_SERVERS)
    monkeypatch.setattr(open_session, "DemoClient", lambda: DemoClient(pace=0))
    yield folder


def test_the_example_of_the_page_works(tmp_path: Path) -> None:
    program = Program.in_folder(tmp_path)
    shutil.copytree(sample_project(), program.project, dirs_exist_ok=True)
    [example] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=program.project,
        env=program.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (done.returncode, done.stderr) == (0, "")
    asked = [line for line in done.stdout.splitlines() if line.startswith("allow?")]
    assert [line.split()[1] for line in asked] == ["bash", "edit", "bash"]
    assert ">= 10" in (program.project / "cart.py").read_text()
    assert done.stdout.splitlines()[-1] == "TurnFinished"


async def test_calls_that_need_approval_do_not_run_without_it(project: Path) -> None:
    async with Session.open(project, model="demo") as session:
        words = await session.ask("Fix it.")

    assert words
    assert "> 10" in (project / "cart.py").read_text()


async def test_a_reply_can_say_more_than_yes_or_no(project: Path) -> None:
    async def approve(request: ApprovalRequest) -> ApprovalReply:
        await asyncio.sleep(0)
        return ApprovalReply(Decision.DENY, "not today")

    async with Session.open(project, model="demo", approve=approve) as session:
        events = [event async for event in session.send("Fix it.")]

    assert {
        event.outcome for event in events if isinstance(event, ToolFinished) and event.tool == "edit"
    } == {Outcome.DENIED}
    assert isinstance(events[-1], TurnFinished)


async def test_a_failing_approval_function_ends_the_turn_with_its_error(project: Path) -> None:
    def approve(request: ApprovalRequest) -> bool:
        raise LookupError("who is this?")

    async with Session.open(project, model="demo", approve=approve) as session:
        with pytest.raises(LookupError, match="who is this"):
            await session.ask("Fix it.")
        assert not session.interrupt()


async def test_a_caller_that_stops_reading_stops_the_turn(project: Path) -> None:
    async with Session.open(project, model="demo", approve=lambda request: True) as session:
        events = session.send("Fix it.")
        async for event in events:
            if isinstance(event, RequestOpened):
                break
        with pytest.raises(UsageError, match="already running"):
            await session.ask("And you?")
        await events.aclose()

        assert not session.interrupt()
        assert "> 10" in (project / "cart.py").read_text()


async def test_an_interrupted_turn_has_no_answer(project: Path) -> None:
    async with Session.open(project, model="demo", approve=lambda request: session.interrupt()) as session:
        with pytest.raises(UserError, match=str(TurnOutcome.INTERRUPTED)):
            await session.ask("Fix it.")


async def test_a_session_is_resumed_with_its_messages(project: Path) -> None:
    async with Session.open(project, model="demo") as session:
        await session.ask("Fix it.")
        before = session.id
    async with Session.open(project, model="demo", resume=before) as again:
        assert again.id == before
        assert "Fix it." in str(again.history())


@pytest.mark.parametrize(
    ("opened", "words"),
    [
        (lambda project: Session.open(project, model="demo", permission="yolo"), "no mode 'yolo'"),
        (lambda project: Session.open(project, model="demo", agent="nobody"), "nobody"),
        (lambda project: Session.open(project, model="nonsense"), "names no provider"),
        (lambda project: Session.open(project / "gone", model="demo"), "no folder at"),
    ],
    ids=["permission", "agent", "model", "path"],
)
async def test_invalid_options_are_refused_with_a_message(
    project: Path, opened: Callable[[Path], AbstractAsyncContextManager[Session]], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        async with opened(project):
            pass


def test_the_package_itself_loads_nothing_of_the_core() -> None:
    code = "import sys, coder_tui; print([name for name in sys.modules if name.startswith('coder_tui.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
