"""What the approval dialog says of the problems that a change would bring, before it is answered."""

from dataclasses import replace

import pytest

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.events import ProposalChecked, RequestClosed, RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.ui.glyphs import ASCII, UNICODE
from coder_tui.ui.requests.details import Detail, Weight, check_rows, check_words
from tests.fakes.screens import shell_request, stage

DIFF = "--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-a\n+b\n"
REQUEST = replace(
    shell_request(preview=DiffBlock("calc.py", DIFF, 1, 1)),
    tool="edit",
    kind=ToolKind.EDIT,
    title="Allow edit?  calc.py",
    is_undoable=True,
)
ERROR = Diagnostic("calc.py", 2, 16, Severity.ERROR, "undefined\x1b name\nmore", "F821", "pyflakes")
WORSE = ProposalCheck(ServerStatus.FRESH, ChangeCounts(2, 1), (ERROR,), is_known=True)
PENDING = ProposalCheck(ServerStatus.PENDING)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (PENDING, "problems not known yet"),
        (ProposalCheck(ServerStatus.STARTING), "problems not known yet"),
        (ProposalCheck(ServerStatus.CRASHED), "problems not known: the language server fails"),
        (ProposalCheck(ServerStatus.NOT_INSTALLED), "problems not checked: no language server"),
        (ProposalCheck(ServerStatus.UNTRUSTED), "problems not checked: no server may run here"),
        (ProposalCheck(ServerStatus.UNSUPPORTED), ""),
        (
            ProposalCheck(ServerStatus.UNSUPPORTED, detail="calc.py is too large"),
            "problems not checked: the file is too large",
        ),
        (ProposalCheck(ServerStatus.FRESH, is_known=True), "no new problems"),
        (ProposalCheck(ServerStatus.NOT_INSTALLED, unchecked=1), "no new problems, 1 file not checked"),
        (
            ProposalCheck(ServerStatus.UNSUPPORTED, ChangeCounts(1), detail="too large", unchecked=2),
            "+1 error, 2 files not checked",
        ),
        (
            ProposalCheck(ServerStatus.LINTER_MISSING, is_known=True),
            "problems hardly known: a checker is missing",
        ),
        (WORSE, "+2 errors -1: 2:16 undefined<ESC> name"),
        (replace(WORSE, counts=ChangeCounts(0, 1), introduced=()), "-1 error"),
        (
            replace(WORSE, status=ServerStatus.PENDING, is_known=False, introduced=()),
            "+2 errors -1, and more may come",
        ),
        (
            replace(WORSE, is_compared=False, counts=ChangeCounts(2), introduced=()),
            "2 errors in it, old or new",
        ),
        (replace(WORSE, counts=ChangeCounts(20, 10, 30, 15)), "+20 errors -10, +30 warnings -15"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.status,
)
def test_what_is_known_is_told_and_what_is_not_is_said_to_be_so(check: ProposalCheck, words: str) -> None:
    assert check_words(check, UNICODE)[0].replace("\u241b", "<ESC>") == words


def test_what_was_not_checked_is_no_good_news() -> None:
    assert check_words(ProposalCheck(ServerStatus.NOT_INSTALLED, unchecked=1), UNICODE)[1] == "$text-muted"


def test_words_never_take_more_than_their_columns() -> None:
    long = replace(WORSE, introduced=(replace(ERROR, message="x" * 500),))
    assert check_words(long, ASCII)[0] == f"+2 errors -1: 2:16 {'x' * 26}..."


def test_the_gravest_are_listed_with_their_places() -> None:
    assert check_rows(replace(WORSE, detail="half of it"), UNICODE)[0] == Detail(
        "problems", "+2 errors -1", "half of it"
    )
    place, said = "calc.py:2:16 undefined", "pyflakes F821"
    row = check_rows(WORSE, UNICODE)[1]
    assert (row.text.startswith(place), row.reason, row.weight) == (True, said, Weight.WARNING)
    assert check_rows(ProposalCheck(ServerStatus.UNSUPPORTED), UNICODE) == ()


async def test_the_dialog_opens_at_once_and_says_more_when_it_is_known() -> None:
    async with stage(size=(80, 24)) as s:
        s.session.emit(RequestOpened(REQUEST))
        await s.ready_dialog()
        rows = len(s.drawn().rstrip().splitlines())
        assert "problems" not in s.drawn()
        s.session.emit(ProposalChecked(REQUEST.call_id, PENDING))
        await s.until(lambda: "old version kept · problems not known yet" in s.drawn())
        s.session.emit(ProposalChecked(REQUEST.call_id, WORSE))
        await s.until(lambda: "old version kept · +2 errors -1: 2:16" in s.drawn())
        assert len(s.drawn().rstrip().splitlines()) == rows
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.ALLOW_ONCE))])


async def test_what_came_before_the_dialog_stands_in_it() -> None:
    async with stage(size=(80, 24)) as s:
        await s.pilot.press(*"draft")
        s.session.emit(RequestOpened(REQUEST), ProposalChecked(REQUEST.call_id, WORSE))
        assert s.dialog is None
        await s.pilot.press("f8")
        await s.ready_dialog()
        await s.until(lambda: "+2 errors -1" in s.drawn())


async def test_a_word_after_the_answer_changes_nothing() -> None:
    async with stage(size=(80, 24)) as s:
        s.session.emit(RequestOpened(REQUEST))
        await s.ready_dialog()
        s.session.emit(RequestClosed(REQUEST.id, None))
        await s.until(lambda: s.dialog is None)
        s.session.emit(ProposalChecked(REQUEST.call_id, WORSE))
        await s.pilot.pause()
        assert "+2 errors" not in s.drawn()


async def test_why_lists_the_problems() -> None:
    async with stage(size=(100, 30)) as s:
        s.session.emit(RequestOpened(REQUEST), ProposalChecked(REQUEST.call_id, WORSE))
        await s.ready_dialog()
        await s.pilot.press("?")
        await s.until(lambda: "calc.py:2:16 undefined" in s.drawn())
