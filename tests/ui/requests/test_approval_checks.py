"""The approval dialog shows the problems that a change would cause before it is answered."""

from dataclasses import replace

import pytest

from coder_tui.protocol.access import ToolKind
from coder_tui.protocol.diagnostics import ChangeCounts, Diagnostic, ProposalCheck, ServerStatus, Severity
from coder_tui.protocol.display import DiffBlock
from coder_tui.protocol.events import ProposalChecked, RequestClosed, RequestOpened
from coder_tui.protocol.requests import ApprovalReply, Decision
from coder_tui.ui.glyphs import ASCII, UNICODE
from coder_tui.ui.requests.details import Detail, Weight, check_rows, describe_check
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
        (PENDING, "still checking for problems"),
        (ProposalCheck(ServerStatus.STARTING), "language server is starting"),
        (ProposalCheck(ServerStatus.CRASHED), "problems unknown: language server crashed"),
        (ProposalCheck(ServerStatus.NOT_INSTALLED), "not checked: no language server installed"),
        (ProposalCheck(ServerStatus.UNTRUSTED), "not checked: language servers may not run here"),
        (ProposalCheck(ServerStatus.UNSUPPORTED), ""),
        (
            ProposalCheck(ServerStatus.UNSUPPORTED, detail="calc.py is too large"),
            "not checked: file too large",
        ),
        (ProposalCheck(ServerStatus.FRESH, is_known=True), "no new problems"),
        (ProposalCheck(ServerStatus.NOT_INSTALLED, unchecked=1), "no new problems, 1 file not checked"),
        (
            ProposalCheck(ServerStatus.UNSUPPORTED, ChangeCounts(1), detail="too large", unchecked=2),
            "+1 error, 2 files not checked",
        ),
        (
            ProposalCheck(ServerStatus.LINTER_MISSING, is_known=True),
            "only partly checked: a linter is missing",
        ),
        (WORSE, "+2 errors -1: 2:16 undefined<ESC> name"),
        (replace(WORSE, counts=ChangeCounts(0, 1), introduced=()), "-1 error"),
        (
            replace(WORSE, status=ServerStatus.PENDING, is_known=False, introduced=()),
            "+2 errors -1 so far",
        ),
        (
            replace(WORSE, is_compared=False, counts=ChangeCounts(2), introduced=()),
            "2 errors (old or new)",
        ),
        (replace(WORSE, counts=ChangeCounts(20, 10, 30, 15)), "+20 errors -10, +30 warnings -15"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.status,
)
def test_known_and_unknown_problems_are_described(check: ProposalCheck, words: str) -> None:
    assert describe_check(check, UNICODE)[0].replace("\u241b", "<ESC>") == words


def test_an_unchecked_change_is_not_shown_as_good() -> None:
    assert describe_check(ProposalCheck(ServerStatus.NOT_INSTALLED, unchecked=1), UNICODE)[1] == "$text-muted"


def test_the_text_never_exceeds_its_columns() -> None:
    long = replace(WORSE, introduced=(replace(ERROR, message="x" * 500),))
    assert describe_check(long, ASCII)[0] == f"+2 errors -1: 2:16 {'x' * 26}..."


def test_the_most_serious_problems_are_listed_with_their_locations() -> None:
    assert check_rows(replace(WORSE, detail="half of it"), UNICODE)[0] == Detail(
        "problems", "+2 errors -1", "half of it"
    )
    place, said = "calc.py:2:16 undefined", "pyflakes F821"
    row = check_rows(WORSE, UNICODE)[1]
    assert (row.text.startswith(place), row.reason, row.weight) == (True, said, Weight.WARNING)
    assert check_rows(ProposalCheck(ServerStatus.UNSUPPORTED), UNICODE) == ()


async def test_the_dialog_opens_at_once_and_shows_problems_when_they_are_known() -> None:
    async with stage(size=(80, 24)) as s:
        s.session.emit(RequestOpened(REQUEST))
        await s.ready_dialog()
        rows = len(s.drawn().rstrip().splitlines())
        assert "problems" not in s.drawn()
        s.session.emit(ProposalChecked(REQUEST.call_id, PENDING))
        await s.shows("can be undone · still checking for problems")
        s.session.emit(ProposalChecked(REQUEST.call_id, WORSE))
        await s.shows("can be undone · +2 errors -1: 2:16")
        assert len(s.drawn().rstrip().splitlines()) == rows
        await s.pilot.press("ctrl+y")
        await s.until(lambda: s.session.answers == [("r1", ApprovalReply(Decision.ALLOW_ONCE))])


async def test_a_report_from_before_the_dialog_opened_is_shown() -> None:
    async with stage(size=(80, 24)) as s:
        await s.pilot.press(*"draft")
        s.session.emit(RequestOpened(REQUEST), ProposalChecked(REQUEST.call_id, WORSE))
        assert s.dialog is None
        await s.pilot.press("f8")
        await s.ready_dialog()
        await s.shows("+2 errors -1")


async def test_a_report_after_the_answer_changes_nothing() -> None:
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
        await s.shows("calc.py:2:16 undefined")
