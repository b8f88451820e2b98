"""What is said of a change's problems where there is no screen."""

import pytest

from coder_tui.plain.session import check_lines
from coder_tui.protocol.diagnostics import ChangeCounts, ProposalCheck, ServerStatus


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (ProposalCheck(ServerStatus.FRESH, is_known=True), "none that is new"),
        (ProposalCheck(ServerStatus.LINTER_MISSING, is_known=True), "hardly known, a checker is missing"),
        (ProposalCheck(ServerStatus.NOT_INSTALLED), "problems not checked: no language server"),
        (
            ProposalCheck(ServerStatus.UNSUPPORTED, detail="a.py is too large"),
            "problems not checked: the file is too large",
        ),
        (ProposalCheck(ServerStatus.NOT_INSTALLED, unchecked=1), "none that is new, 1 file not checked"),
        (
            ProposalCheck(ServerStatus.FRESH, ChangeCounts(1), is_known=True, is_compared=False),
            "1 error in it, old or new",
        ),
    ],
)
def test_a_change_is_never_called_clean_when_nobody_knows(check: ProposalCheck, words: str) -> None:
    assert list(check_lines(check)) == [f"Problems of this change: {words}."]
