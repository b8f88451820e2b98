"""One fault that several servers report is told once, and nothing else is lost."""

from dataclasses import replace

from coder_tui.lsp.report import merged
from coder_tui.protocol.diagnostics import Diagnostic, Severity

FLAKES = Diagnostic("a.py", 1, 5, Severity.ERROR, "undefined name 'x'", "", "pyflakes", is_new=True)
RUFF = Diagnostic("a.py", 1, 5, Severity.WARNING, "Undefined name `x`", "F821", "Ruff", is_new=True)
LONG = Diagnostic("a.py", 2, 80, Severity.WARNING, "line too long (90 > 79)", "E501", "pycodestyle")
RUFF_LONG = Diagnostic("a.py", 2, 80, Severity.WARNING, "Line too long (90)", "E501", "Ruff")
BOTH = replace(FLAKES, code="F821", source="pyflakes, Ruff")


def test_one_fault_of_two_servers_is_one_problem_by_its_words_or_its_code() -> None:
    assert merged((FLAKES, RUFF, LONG, RUFF_LONG)) == (BOTH, replace(LONG, source="pycodestyle, Ruff"))


def test_the_same_fault_twice_in_a_line_stays_twice() -> None:
    second, other = replace(FLAKES, character=9), replace(RUFF, character=9)
    assert merged((FLAKES, second)) == (FLAKES, second)
    assert merged((FLAKES, second, RUFF, other)) == (BOTH, replace(BOTH, character=9))


def test_other_lines_files_and_faults_stay_apart() -> None:
    apart = (FLAKES, replace(RUFF, line=2), replace(RUFF, path="b.py"), replace(RUFF, message="odd"))
    assert merged(apart) == apart


def test_what_one_server_knew_before_is_not_new_because_another_came_later() -> None:
    old = replace(FLAKES, is_new=False)
    assert merged((old, RUFF)) == (replace(BOTH, is_new=False),)
