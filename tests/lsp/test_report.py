"""What a change did to problems, and how a model is told."""

from coder_tui.lsp.report import MOST_WARNINGS, Report, for_model, joined, of_files, worst
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus, Severity

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def problem(line: int, message: str = "m", severity: Severity = ERROR, *, is_new: bool = False) -> Diagnostic:
    return Diagnostic("a.py", line, 1, severity, message, "c", "s", is_new)


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


def test_a_file_without_its_server_is_not_covered_by_what_is_known_of_others() -> None:
    known, missing = (
        Report(ServerStatus.FRESH, (problem(1),)),
        Report(ServerStatus.NOT_INSTALLED, detail="hint"),
    )
    whole = of_files({"a.py": known, "b.sh": missing, "README.md": Report(ServerStatus.UNSUPPORTED)})
    assert whole == Report(ServerStatus.NOT_INSTALLED, (problem(1),), detail="hint", unchecked=("b.sh",))
    assert (whole.is_known, whole.is_known_in_part) == (False, True)
    told = for_model(whole)
    assert (told["server_status"], told["not_checked"], told["introduced_count"]) == (
        "not_installed",
        ["b.sh"],
        1,
    )


def test_too_large_a_file_is_not_covered_by_what_is_known_of_others() -> None:
    large = Report(ServerStatus.UNSUPPORTED, detail="too large")
    whole = of_files({"a.py": Report(ServerStatus.FRESH), "b.py": large})
    assert (whole.status, whole.unchecked) == (ServerStatus.UNSUPPORTED, ("b.py",))
    awaited = of_files({"a.py": Report(ServerStatus.PENDING), "b.py": large})
    assert (awaited.status, awaited.is_known_in_part) == (ServerStatus.PENDING, False)


def test_files_that_need_no_server_or_have_none_at_all_are_not_told_one_by_one() -> None:
    text = Report(ServerStatus.UNSUPPORTED)
    assert of_files({"a.py": Report(ServerStatus.FRESH), "README.md": text}) == Report(ServerStatus.FRESH)
    missing = Report(ServerStatus.NOT_INSTALLED, detail="hint")
    assert of_files({"b.sh": missing, "README.md": text}) == missing


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
