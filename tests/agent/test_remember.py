"""What the user wants remembered stands where they chose, after they saw it."""

from collections.abc import Callable
from pathlib import Path

from coder_tui.agent.remember import NOWHERE, UNWANTED
from coder_tui.bootstrap.prepare import read_instructions
from coder_tui.commands.base import Intent, Say
from coder_tui.commands.session import USAGE, remember
from coder_tui.config.trust import Trust
from coder_tui.protocol.access import Mode
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.events import Event, RequestOpened
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import (
    ApprovalReply,
    ApprovalRequest,
    Attendance,
    Decision,
    QuestionAnswer,
    QuestionReply,
    QuestionRequest,
    Reply,
    Request,
)
from tests.fakes.family import DONE, Home, calls, home

ALLOW = ApprovalReply(Decision.ALLOW_ONCE)


def answers(here: Home, *replies: Reply) -> Callable[[], list[Request]]:
    """Answer what is asked, in order; tells what was."""
    asked: list[Request] = []
    left = list(replies)

    def hear(event: Event) -> None:
        if isinstance(event, RequestOpened):
            asked.append(event.request)
            here.session.answer(event.request.id, left.pop(0))

    here.session.subscribe(hear)
    here.answers = []
    return lambda: asked


async def reported(here: Home, argument: str) -> Intent:
    return await remember(here.session, argument)


async def test_the_place_is_asked_for_and_the_change_is_shown(tmp_path: Path) -> None:
    async with home(tmp_path, {"go": [DONE]}) as here:
        picked = QuestionReply(Attendance.ANSWERED, (QuestionAnswer(("This project",)),))
        asked = answers(here, picked, ALLOW)

        said = await reported(here, "we use  tabs")

        question, approval = asked()
        assert isinstance(question, QuestionRequest)
        assert isinstance(approval, ApprovalRequest)
        assert [option.label for option in question.questions[0].options] == ["This project", "All projects"]
        assert isinstance(approval.preview, DiffBlock)
        assert "+- we use tabs" in approval.preview.diff
        assert approval.summary == "AGENTS.md: we use tabs"
        assert said == Say("Remembered in AGENTS.md.")
        assert (here.project / "AGENTS.md").read_text() == "## Remembered\n\n- we use tabs\n"
        assert [each.label for each in here.session.report.held] == ["remembered"]
        assert not approval.is_undoable


async def test_the_agents_turn_is_undone_without_what_the_user_had_remembered(tmp_path: Path) -> None:
    script = {"go": [calls("write", path="a.txt", content="x"), DONE]}
    async with home(tmp_path, script, mode=Mode.EDITS) as here:
        await here.session.submit("go")
        answers(here, ALLOW)
        await reported(here, "project we use tabs")
        undone = await here.session.turns.undo()
        assert (undone.paths, undone.conflicts) == (("a.txt",), ())
        assert (here.project / "AGENTS.md").read_text() == "## Remembered\n\n- we use tabs\n"


async def test_what_was_written_here_is_read_without_another_yes(tmp_path: Path) -> None:
    async with home(tmp_path, {"go": [DONE]}) as here:
        answers(here, ALLOW, ALLOW, ALLOW)
        await reported(here, "project we use tabs")
        await reported(here, "project and spaces")

        directories = here.core.setup.directories
        instructions = read_instructions(here.core.setup, tmp_path)
        inventory = Trust.load(directories).inventory(here.project)
        assert (inventory.is_trusted, inventory.is_accepted) == (True, False)
        assert not instructions.are_all_trusted
        assert "- we use tabs\n- and spaces" in instructions.text

        (here.project / "AGENTS.md").write_text("Run curl.")
        assert not Trust.load(directories).inventory(here.project).is_trusted
        assert "curl" not in read_instructions(here.core.setup, tmp_path).text
        await reported(here, "project a third thing")
        assert not Trust.load(directories).inventory(here.project).is_trusted


async def test_ones_own_instructions_can_be_named(tmp_path: Path) -> None:
    async with home(tmp_path, {"go": [DONE]}) as here:
        answers(here, ALLOW)

        said = await reported(here, "user call me Ada")

        assert isinstance(said, Say)
        assert said.text.endswith("config/AGENTS.md.")
        assert (tmp_path / "config/AGENTS.md").read_text() == "## Remembered\n\n- call me Ada\n"
        assert not (here.project / "AGENTS.md").exists()
        assert Trust.load(here.core.setup.directories).answers == ()


async def test_a_refusal_or_a_closed_dialog_writes_nothing(tmp_path: Path) -> None:
    async with home(tmp_path, {"go": [DONE]}) as here:
        closed = QuestionReply(Attendance.CANCELLED)
        asked = answers(here, ApprovalReply(Decision.CANCEL_TURN), ApprovalReply(Decision.DENY), closed)

        said = [await reported(here, words) for words in ("project a", "project b", "c", "", "project")]

        words = [UNWANTED, UNWANTED, NOWHERE, USAGE, USAGE]
        assert said == [Say(text, NoticeLevel.WARNING) for text in words]
        assert [isinstance(each, ApprovalRequest) and each.is_in_turn for each in asked()] == [False] * 3
        assert list(here.project.iterdir()) == []
