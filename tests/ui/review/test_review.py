"""The review by keyboard: decide on hunks, comment, send; nothing is lost on the way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coder_tui.protocol.errors import UserError
from coder_tui.protocol.events import FilesChanged, QueueChanged
from coder_tui.ui.lists.help import HelpScreen
from coder_tui.ui.review.model import Counts
from coder_tui.ui.review.screen import NOTHING, NOTHING_TO_SEND, ReviewScreen
from coder_tui.workspace.undo.changed_files import ChangedFile
from tests.fakes.fake_session import FakeSession
from tests.fakes.screens import Stage, stage

ROOT = Path("/srv/project")
OLD = "".join(f"{n}\n" for n in range(1, 31))
NEW = OLD.replace("2\n3\n", "two\nthree\n", 1).replace("25\n", "", 1)
A = ChangedFile(ROOT / "a.txt", 1, OLD.encode(), NEW.encode())
B = ChangedFile(ROOT / "b.txt", 1, None, b"new\x1b[2J\n")


@asynccontextmanager
async def reviewing(
    *files: ChangedFile, size: tuple[int, int] = (100, 30)
) -> AsyncIterator[tuple[Stage, ReviewScreen]]:
    session = FakeSession(ROOT)
    session.files = files or (A, B)
    async with stage(session, size) as s:
        yield s, await opened(s)


async def opened(s: Stage) -> ReviewScreen:
    s.screen.body.open_review()
    await s.until(lambda: isinstance(s.app.screen, ReviewScreen) and s.app.screen.is_loaded)
    await s.pilot.pause()
    assert isinstance(s.app.screen, ReviewScreen)
    return s.app.screen


async def until_counts(s: Stage, counts: Counts) -> None:
    body = s.screen.body
    await s.until(lambda: body.review is not None and body.review.counts() == counts)


async def test_keep_and_reject_go_on_to_the_next_undecided_hunk() -> None:
    async with reviewing() as (s, review):
        await s.pilot.press("y", "n")
        assert review.model.counts() == Counts(1, 1, 1)
        await s.shows("Review turn 1   2 files  3 hunks   ✓1 ✗1 ○1")
        await s.shows("b.txt  hunk 1/1  ○ undecided")
        await s.pilot.press("left_curly_bracket")
        await s.shows("a.txt  hunk 1/2  ✓ keep")
        await s.pilot.press("right_square_bracket")
        await s.shows("a.txt  hunk 2/2  ✗ reject")


async def test_whole_files_splits_undo_and_changing_a_decision() -> None:
    async with reviewing() as (s, review):
        await s.pilot.press("N")
        assert review.model.counts() == Counts(0, 2, 1)
        await s.pilot.press("u", "s")
        assert review.model.counts() == Counts(0, 0, 4)
        await s.pilot.press("space")
        assert review.model.counts() == Counts(1, 0, 3)
        await s.pilot.press("space")
        assert review.model.counts() == Counts(0, 1, 3)
        await s.pilot.press("space", "J", "J", "K", "y")
        assert [review.model.decision(key) for key in review.model.keys] == [None, True, None, None]


async def test_a_comment_is_typed_with_any_letter_and_shows_below_its_hunk() -> None:
    async with reviewing() as (s, review):
        await s.pilot.press("c", *"nyq", "ctrl+j", "s", "enter")
        key = review.model.keys[0]
        assert (review.model.comment(key), review.model.counts()) == ("nyq\ns", Counts(0, 0, 3))
        await s.shows("you: nyq")
        await s.pilot.press("c", "x", "escape")
        assert review.model.comment(key) == "nyq\ns"
        await s.pilot.press("c", "backspace", "backspace", "backspace", "backspace", "backspace", "enter")
        assert (review.model.comment(key), s.app.screen) == ("", review)


async def test_enter_sends_one_message_and_closes() -> None:
    async with reviewing() as (s, review):
        first, second, third = review.model.keys
        await s.pilot.press("n", "y", "c", *"good", "enter", "enter")
        await s.until(lambda: s.session.submitted != [])
        assert s.session.submitted == ["This is my review."]
        assert s.app.screen is s.screen and s.screen.prompt.has_focus
        (sent,) = s.session.review.settled
        assert [(each.file, each.rejected, dict(each.comments)) for each in sent] == [
            (A, {first[1]}, {}),
            (B, frozenset(), {third[1]: "good"}),
        ]
        assert (review.model.decision(second), review.model.outcome()) == (True, ())


async def test_a_busy_agent_gets_it_at_its_next_step() -> None:
    async with reviewing() as (s, _):
        heard: list[object] = []
        s.session.subscribe(heard.append)
        await s.pilot.press("escape")
        s.screen.widgets.sender.send("work")
        await s.until(lambda: s.session.is_busy)
        await opened(s)
        await s.pilot.press("n", "enter")
        await s.until(lambda: QueueChanged(("This is my review.",)) in heard)
        assert s.session.submitted == ["work"]


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c", "f3"])
async def test_decisions_survive_closing_and_the_draft_is_unchanged(key: str) -> None:
    async with reviewing() as (s, review):
        s.screen.prompt.show_draft("half a thought")
        await s.pilot.press("n", key)
        await s.until(lambda: s.app.screen is s.screen)
        assert (s.draft, s.screen.prompt.has_focus, s.session.submitted) == ("half a thought", True, [])
        again = await opened(s)
        assert again.model.counts() == Counts(0, 1, 2)
        assert again is not review


async def test_nothing_is_sent_without_rejections_and_comments() -> None:
    async with reviewing() as (s, review):
        await s.pilot.press("Y", "enter")
        await s.shows(NOTHING_TO_SEND)
        assert (s.app.screen, s.session.review.settled) == (review, [])


async def test_a_stale_file_is_reported_and_the_next_enter_sends_the_rest() -> None:
    async with reviewing() as (s, review):
        await s.pilot.press("n", "y", "n")
        s.session.review.stale_files = {A.path}
        await s.pilot.press("enter")
        await s.shows("a.txt changed on disk and is left as is. Enter sends the rest.")
        assert (review.model.counts(), s.session.review.settled) == (Counts(1, 1, 1), [])
        await s.pilot.press("left_curly_bracket", "n")
        await s.shows("a.txt has changed on disk and cannot be undone.")
        await s.pilot.press("enter")
        await s.until(lambda: s.session.submitted != [])
        assert [[each.file for each in sent] for sent in s.session.review.settled] == [[B]]


async def test_a_failure_is_reported_and_nothing_is_lost() -> None:
    async with reviewing() as (s, review):
        s.session.review.problem = UserError("a.txt cannot be undone: the disk is full.")
        await s.pilot.press("n", "enter")
        await s.shows("the disk is full")
        assert (s.app.screen, review.model.counts(), s.session.submitted) == (review, Counts(0, 1, 2), [])
        s.session.review.problem = None
        await s.pilot.press("enter")
        await s.until(lambda: s.session.submitted == ["This is my review."])


async def test_new_changes_show_up_while_the_review_is_open() -> None:
    async with reviewing(A) as (s, review):
        await s.pilot.press("n")
        s.session.files = (A, B)
        s.session.emit(FilesChanged(("b.txt",)))
        await s.until(lambda: review.model.counts() == Counts(0, 1, 2))
        await s.shows("a.txt  hunk 2/2")


async def test_no_key_is_lost_before_there_are_files() -> None:
    session = FakeSession(ROOT)
    session.files = (A, B)
    async with stage(session) as s:
        s.screen.body.open_review()
        await s.pilot.press("n", "n", "y")
        await s.until(
            lambda: s.screen.body.review is not None and s.screen.body.review.counts() == Counts(1, 2, 0)
        )
        assert s.draft == ""


class SlowSession(FakeSession):
    """Reports changes only once the gate is open."""

    def __init__(self) -> None:
        super().__init__(ROOT)
        self.files = (A, B)
        self.count_asked = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def changed_files(self, since_turn: int = 1) -> tuple[ChangedFile, ...]:
        self.count_asked += 1
        await self.gate.wait()
        return self.files


async def test_keys_are_handled_even_if_files_change_while_the_review_opens() -> None:
    session = SlowSession()
    async with stage(session) as s:
        session.gate.clear()
        session.count_asked = 0
        s.screen.body.open_review()
        await s.until(lambda: isinstance(s.app.screen, ReviewScreen) and session.count_asked == 1)
        session.emit(FilesChanged(("a.txt",)))
        await s.until(lambda: session.count_asked > 1)
        session.gate.set()
        await s.pilot.press("y")
        await s.until(
            lambda: s.screen.body.review is not None and s.screen.body.review.counts() == Counts(1, 0, 2)
        )


async def test_reopening_shows_nothing_old_before_the_files_are_loaded() -> None:
    session = SlowSession()
    async with stage(session) as s:
        await opened(s)
        await s.pilot.press("n", "q")
        await s.until(lambda: s.app.screen is s.screen)
        session.gate.clear()
        s.screen.body.open_review()
        await s.until(lambda: isinstance(s.app.screen, ReviewScreen))
        await s.pilot.resize_terminal(80, 24)
        await s.pilot.press("n")
        session.gate.set()
        await s.until(
            lambda: s.screen.body.review is not None and s.screen.body.review.counts() == Counts(0, 2, 1)
        )


async def test_an_empty_review_says_so_and_takes_every_key() -> None:
    async with reviewing(ChangedFile(ROOT / "gone", 1, None, b"")) as (s, review):
        s.session.files = ()
        s.session.emit(FilesChanged(()))
        await s.until(lambda: review.model.files == ())
        await s.pilot.press("t")
        await s.until(lambda: NOTHING in s.drawn())
        await s.pilot.press(*"ynYNcsuJKjke", "space", "right_square_bracket", "left_curly_bracket", "enter")
        await s.shows(NOTHING_TO_SEND)


async def test_escapes_in_files_are_shown_and_help_opens_over_it() -> None:
    async with reviewing(B) as (s, _):
        await s.shows("new␛[2J")
        await s.pilot.press("f1")
        assert isinstance(s.app.screen, HelpScreen)
        await s.shows("Reject the hunk and go to the next one")


@pytest.mark.parametrize("size", [(80, 24), (140, 40), (200, 50), (20, 5), (1, 1)])
async def test_it_works_at_every_size(size: tuple[int, int]) -> None:
    async with reviewing(size=size) as (s, review):
        await s.pilot.press("n", "right_curly_bracket", "c", "x", "enter", "y", "enter")
        await s.until(lambda: s.session.submitted == ["This is my review."])
        assert review.model.outcome() == ()


async def test_f3_goes_to_the_changes_then_to_the_review_then_away() -> None:
    session = FakeSession(ROOT)
    session.files = (A, B)
    async with stage(session, (140, 40)) as s:
        session.emit(FilesChanged(("a.txt",)))
        await s.until(lambda: s.screen.widgets.dock.display)
        await s.pilot.press("f3")
        assert s.screen.widgets.dock.changes.has_focus_within
        await s.pilot.press("f3")
        await s.until(lambda: isinstance(s.app.screen, ReviewScreen) and s.app.screen.is_loaded)
        await s.pilot.press("n", "f3")
        await s.until(lambda: s.app.screen is s.screen and not s.screen.widgets.dock.display)
        assert s.screen.prompt.has_focus
