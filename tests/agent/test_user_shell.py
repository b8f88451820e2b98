"""A command that the user typed runs at once, shows as a call, and reaches the model only if wanted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from coder_tui.protocol.access import Mode, ToolKind
from coder_tui.protocol.display import TerminalBlock
from coder_tui.protocol.events import Notice, RequestOpened, ToolFinished, ToolProgressed, ToolStarted
from coder_tui.protocol.messages import Attachment, UserMessage
from coder_tui.protocol.outcomes import NoticeLevel, Outcome
from tests.fakes.scripted_model import Say
from tests.fakes.world import World, world


@asynccontextmanager
async def with_shell(folder: Path, *replies: Say) -> AsyncIterator[World]:
    (folder / "project").mkdir()
    async with world(folder, replies) as made:
        yield made


def finished(made: World) -> ToolFinished:
    (event,) = [event for event in made.events if isinstance(event, ToolFinished)]
    return event


async def test_it_runs_without_a_question_and_shows_as_a_call(tmp_path: Path) -> None:
    async with with_shell(tmp_path) as made:
        await made.session.shell.run("echo hello; exit 3", is_shared=False)

        (started,) = made.of(ToolStarted)
        end = finished(made)
        assert started == ToolStarted(end.call_id, "you", ToolKind.EXECUTE, "echo hello; exit 3")
        assert "".join(event.text for event in made.events if isinstance(event, ToolProgressed)) == "hello\n"
        assert end.outcome is Outcome.FAILED
        assert end.display == TerminalBlock("echo hello; exit 3", "hello\n", 3, str(tmp_path))
        assert made.of(RequestOpened) == []


async def test_only_a_shared_output_goes_along_and_only_once(tmp_path: Path) -> None:
    async with with_shell(tmp_path, Say("seen"), Say("again")) as made:
        await made.session.shell.run("echo private", is_shared=False)
        await made.session.shell.run("echo shared", is_shared=True)
        await made.session.submit("what does it say?")
        await made.session.submit("and now?")

        first, second = (
            message for message in made.model.requests[-1].messages if isinstance(message, UserMessage)
        )
        assert first.attachments == (Attachment("$ echo shared", "shared\n(exit code 0)"),)
        assert second.attachments == ()
        notices = [event.text for event in made.events if isinstance(event, Notice)]
        assert notices == ["Attached for the model: $ echo shared"]
    async with world(tmp_path, [], resume=made.session.id) as again:
        assert Notice(NoticeLevel.INFO, notices[0]) in again.session.history()


async def test_what_is_denied_stays_denied(tmp_path: Path) -> None:
    async with with_shell(tmp_path) as made:
        made.session.set_mode(Mode.PLAN)
        await made.session.shell.run("touch project/new", is_shared=True)

        assert finished(made).outcome is Outcome.DENIED
        assert not (tmp_path / "project/new").exists()


async def test_a_stopped_command_ends_and_says_so(tmp_path: Path) -> None:
    async with with_shell(tmp_path) as made:
        printing = asyncio.Event()
        made.session.subscribe(lambda event: printing.set() if isinstance(event, ToolProgressed) else None)
        running = asyncio.create_task(made.session.shell.run("echo on; sleep 60", is_shared=True))
        await printing.wait()
        running.cancel()
        await asyncio.wait({running})

        assert finished(made).outcome is Outcome.CANCELLED
        assert made.session.report.held == ()
