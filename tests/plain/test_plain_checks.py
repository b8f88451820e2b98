"""The plain front end describes the problems of a proposed change."""

import pytest

from coder_tui.plain.dialogs import check_lines
from coder_tui.protocol.diagnostics import ChangeCounts, ProposalCheck, ServerStatus


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (ProposalCheck(ServerStatus.FRESH, is_known=True), "no new problems"),
        (
            ProposalCheck(ServerStatus.LINTER_MISSING, is_known=True),
            "only partly checked, a linter is missing",
        ),
        (ProposalCheck(ServerStatus.NOT_INSTALLED), "not checked: no language server installed"),
        (
            ProposalCheck(ServerStatus.UNSUPPORTED, detail="a.py is too large"),
            "not checked: file too large",
        ),
        (ProposalCheck(ServerStatus.NOT_INSTALLED, unchecked=1), "no new problems, 1 file not checked"),
        (
            ProposalCheck(ServerStatus.FRESH, ChangeCounts(1), is_known=True, is_compared=False),
            "1 error (old or new)",
        ),
    ],
)
def test_an_unchecked_change_is_never_called_clean(check: ProposalCheck, words: str) -> None:
    assert list(check_lines(check)) == [f"Language server: {words}."]
