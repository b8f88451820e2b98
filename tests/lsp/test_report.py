"""What a change did to problems, and how a model is told."""

from hypothesis import given
from hypothesis import strategies as st

from coder_tui.lsp.report import MOST_WARNINGS, Report, compare, for_model, joined, worst
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus, Severity

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def problem(line: int, message: str = "m", severity: Severity = ERROR, *, is_new: bool = False) -> Diagnostic:
    return Diagnostic("a.py", line, 1, severity, message, "c", "s", is_new)


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
def test_what_was_there_is_fixed_or_remains_and_what_is_there_is_new_or_remains(
    old: list[str], new: list[str]
) -> None:
    before = tuple(problem(number) for number in range(1, len(old) + 1))
    after = tuple(problem(number) for number in range(1, len(new) + 1))
    report = compare(before, "\n".join(old), after, "\n".join(new))
    assert len(report.fixed) + len(report.remaining) == len(before)
    assert len(report.introduced) + len(report.remaining) == len(after)
    if old == new:
        assert (report.introduced, report.fixed) == ((), ())


def test_what_one_does_not_know_nobody_knows() -> None:
    assert worst([ServerStatus.FRESH, ServerStatus.PENDING]) is ServerStatus.PENDING
    assert worst([ServerStatus.FRESH, ServerStatus.NOT_INSTALLED]) is ServerStatus.FRESH
    assert worst([ServerStatus.UNSUPPORTED, ServerStatus.FRESH]) is ServerStatus.FRESH
    assert worst([ServerStatus.LINTER_MISSING, ServerStatus.FRESH]) is ServerStatus.LINTER_MISSING
    assert worst([]) is ServerStatus.UNSUPPORTED


def test_reports_of_files_are_one() -> None:
    one = Report(ServerStatus.FRESH, (problem(1),))
    other = Report(ServerStatus.PENDING, fixed=(problem(2),), detail="indexing", is_compared=False)
    text = Report(ServerStatus.UNSUPPORTED, is_compared=False)
    assert joined([one, text]).is_compared
    assert joined([one, other]) == Report(
        ServerStatus.PENDING, (problem(1),), (problem(2),), (), "indexing", is_compared=False
    )


def test_a_model_gets_all_new_errors_and_a_few_warnings() -> None:
    many = tuple(problem(number, severity=WARNING) for number in range(9))
    told = for_model(Report(ServerStatus.FRESH, (*many, problem(9)), (problem(1),), (problem(2),) * 3))
    assert [item["severity"] for item in told["introduced"]] == ["error"] + ["warning"] * MOST_WARNINGS
    assert (told["introduced_count"], told["fixed_count"], told["remaining_count"]) == (10, 1, 3)
    assert told["introduced"][0]["line"] == 8
    assert "note" not in told


def test_what_is_not_known_is_never_told_as_clean() -> None:
    told = for_model(Report(ServerStatus.PENDING))
    assert told["note"] == "not yet known; this does not mean that there are no problems"
