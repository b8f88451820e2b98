"""Whether a project's check should run is asked once, and only if somebody can answer."""

from pathlib import Path

import pytest

from coder_tui.agent.verify import CHOSEN, LATER, NO, NONE_CHOSEN, YES, VerifyChoices
from coder_tui.protocol.outcomes import NoticeLevel
from coder_tui.protocol.requests import Attendance, QuestionAnswer, QuestionReply, QuestionRequest
from coder_tui.storage.session_state import VerifyChoiceTable

FOLDER = Path("/srv/project")
OPEN = QuestionReply(Attendance.CANCELLED)


def picked(label: str) -> QuestionReply:
    return QuestionReply(Attendance.ANSWERED, (QuestionAnswer((label,)),))


class Choices(VerifyChoiceTable):
    """What is stored, as a store would keep it."""

    def __init__(self) -> None:
        self.by_folder: dict[str, str] = {}

    async def get(self, directory: str) -> str | None:
        return self.by_folder.get(directory)

    async def set(self, directory: str, command: str) -> None:
        self.by_folder[directory] = command


class AskedUser:
    """Gives the same answer each time."""

    def __init__(self, reply: QuestionReply) -> None:
        self.reply = reply
        self.asked: list[QuestionRequest] = []

    async def ask(self, request: QuestionRequest) -> QuestionReply:
        self.asked.append(request)
        return self.reply


def session(store: Choices, user: AskedUser, reported: list[str], looks: str = "make test") -> VerifyChoices:
    def notify(level: NoticeLevel, text: str) -> None:
        reported.append(text)

    return VerifyChoices(FOLDER, store, user.ask, notify, lambda folder: looks)


@pytest.mark.parametrize(
    ("reply", "stored", "reported"),
    [
        (picked(YES), "make test", CHOSEN.format(command="make test")),
        (picked(NO), "", NONE_CHOSEN),
        (
            QuestionReply(Attendance.ANSWERED, (QuestionAnswer(text=" make check "),)),
            "make check",
            CHOSEN.format(command="make check"),
        ),
    ],
    ids=["yes", "no", "another"],
)
async def test_an_answer_holds_for_every_later_session(
    reply: QuestionReply, stored: str, reported: str
) -> None:
    store, user, said = Choices(), AskedUser(reply), list[str]()
    for _ in range(2):
        choices = session(store, user, said)
        await choices.offer()
        await choices.offer()
    (asked,) = user.asked
    assert "`make test`" in asked.questions[0].question
    assert (store.by_folder, said) == ({str(FOLDER): stored}, [reported])


@pytest.mark.parametrize(
    "reply", [picked(LATER), OPEN, QuestionReply(Attendance.NOBODY_THERE)], ids=["later", "esc", "nobody"]
)
async def test_without_an_answer_it_is_asked_again_in_another_session_only(reply: QuestionReply) -> None:
    store, user, said = Choices(), AskedUser(reply), list[str]()
    for _ in range(2):
        choices = session(store, user, said)
        await choices.offer()
        await choices.offer()
    assert (len(user.asked), store.by_folder, said) == (2, {}, [])


async def test_nothing_is_asked_where_no_check_is_seen() -> None:
    store, user = Choices(), AskedUser(picked(YES))
    await session(store, user, [], looks="").offer()
    assert (user.asked, store.by_folder) == ([], {})
