"""Which problems of a text are new, and which only moved with their lines."""

from hypothesis import given
from hypothesis import strategies as st

from coder_tui.lsp.file_state import compare
from coder_tui.lsp.report import Report
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus, Severity

ERROR = Severity.ERROR


def problem(line: int, message: str = "m", *, is_new: bool = False) -> Diagnostic:
    return Diagnostic("a.py", line, 1, ERROR, message, "c", "s", is_new)


def test_a_problem_that_only_moved_remains() -> None:
    before = (problem(1), problem(2))
    after = (problem(2), problem(3), problem(4))
    report = compare(before, "one\ntwo\n", after, "new\none\ntwo\ntwo\n")
    assert report == Report(ServerStatus.FRESH, (problem(4, is_new=True),), (), (problem(2), problem(3)))


def test_the_same_words_on_another_line_are_another_problem() -> None:
    report = compare((problem(1),), "one\n", (problem(1),), "two\n")
    assert (len(report.introduced), len(report.fixed), report.count(ERROR)) == (1, 1, 0)


lines = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@given(lines, lines)
def test_old_problems_are_fixed_or_remain_and_present_ones_are_new_or_remain(
    old: list[str], new: list[str]
) -> None:
    before = tuple(problem(number) for number in range(1, len(old) + 1))
    after = tuple(problem(number) for number in range(1, len(new) + 1))
    report = compare(before, "\n".join(old), after, "\n".join(new))
    assert len(report.fixed) + len(report.remaining) == len(before)
    assert len(report.introduced) + len(report.remaining) == len(after)
    if old == new:
        assert (report.introduced, report.fixed) == ((), ())


def test_a_problem_added_above_an_equal_one_is_the_new_one() -> None:
    old = "def f():\n    return bad\n"
    report = compare((problem(2),), old, (problem(2), problem(4)), f"def g():\n    return bad\n{old}")
    assert report == Report(ServerStatus.FRESH, (problem(2, is_new=True),), (), (problem(4),))


def test_moved_lines_keep_their_problems() -> None:
    report = compare((problem(1),), "one\ntwo\nthree\n", (problem(3),), "two\nthree\none\n")
    assert report == Report(ServerStatus.FRESH, remaining=(problem(3),))


def test_indented_lines_keep_their_problems() -> None:
    report = compare((problem(1),), "one\n", (problem(2),), "if two:\n    one\n")
    assert report == Report(ServerStatus.FRESH, remaining=(problem(2),))


def test_a_message_that_names_another_line_is_the_same_when_that_line_moves() -> None:
    before, after = problem(2, "redefinition of os from line 1"), problem(3, "redefinition of os from line 2")
    report = compare((before,), "import os\nimport os\n", (after,), "# new\nimport os\nimport os\n")
    assert report == Report(ServerStatus.FRESH, remaining=(after,))


def test_names_that_differ_by_a_number_are_different() -> None:
    one, two = problem(2, "undefined name x1"), problem(2, "undefined name x2")
    report = compare(
        (problem(1, one.message), problem(1, two.message)), "x1 + x2\n", (two,), "x1 = 1\nx1 + x2\n"
    )
    assert (report.fixed, report.remaining) == ((problem(1, one.message),), (two,))
