"""A problem that several servers report is shown once, and nothing else is lost."""

from dataclasses import replace

from coder_tui.lsp.report import merge_duplicates
from coder_tui.protocol.diagnostics import Diagnostic, Severity

FLAKES = Diagnostic("a.py", 1, 5, Severity.ERROR, "undefined name 'x'", "", "pyflakes", is_new=True)
RUFF = Diagnostic("a.py", 1, 5, Severity.WARNING, "Undefined name `x`", "F821", "Ruff", is_new=True)
LONG = Diagnostic("a.py", 2, 80, Severity.WARNING, "line too long (90 > 79)", "E501", "pycodestyle")
RUFF_LONG = Diagnostic("a.py", 2, 80, Severity.WARNING, "Line too long (90)", "E501", "Ruff")
BOTH = replace(FLAKES, code="F821", source="pyflakes, Ruff")


def test_the_same_problem_of_two_servers_is_merged_by_message_or_code() -> None:
    assert merge_duplicates((FLAKES, RUFF, LONG, RUFF_LONG)) == (
        BOTH,
        replace(LONG, source="pycodestyle, Ruff"),
    )


def test_the_same_problem_twice_on_a_line_stays_twice() -> None:
    second, other = replace(FLAKES, character=9), replace(RUFF, character=9)
    assert merge_duplicates((FLAKES, second)) == (FLAKES, second)
    assert merge_duplicates((FLAKES, second, RUFF, other)) == (BOTH, replace(BOTH, character=9))


def test_different_lines_files_and_problems_are_not_merged() -> None:
    apart = (FLAKES, replace(RUFF, line=2), replace(RUFF, path="b.py"), replace(RUFF, message="odd"))
    assert merge_duplicates(apart) == apart


def test_what_one_server_knew_before_is_not_new_because_another_came_later() -> None:
    old = replace(FLAKES, is_new=False)
    assert merge_duplicates((old, RUFF)) == (replace(BOTH, is_new=False),)
