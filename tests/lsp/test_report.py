"""What a change did to problems, and what the model gets."""

from coder_tui.lsp.report import (
    MOST_WARNINGS,
    Report,
    for_model,
    join_file_reports,
    join_reports,
    worst_status,
)
from coder_tui.protocol.diagnostics import Diagnostic, ServerStatus, Severity

ERROR, WARNING = Severity.ERROR, Severity.WARNING


def problem(line: int, message: str = "m", severity: Severity = ERROR, *, is_new: bool = False) -> Diagnostic:
    return Diagnostic("a.py", line, 1, severity, message, "c", "s", is_new)


def test_one_unknown_status_makes_the_whole_unknown() -> None:
    assert worst_status([ServerStatus.FRESH, ServerStatus.PENDING]) is ServerStatus.PENDING
    assert worst_status([ServerStatus.FRESH, ServerStatus.NOT_INSTALLED]) is ServerStatus.FRESH
    assert worst_status([ServerStatus.UNSUPPORTED, ServerStatus.FRESH]) is ServerStatus.FRESH
    assert worst_status([ServerStatus.LINTER_MISSING, ServerStatus.FRESH]) is ServerStatus.LINTER_MISSING
    assert worst_status([]) is ServerStatus.UNSUPPORTED


def test_reports_of_files_are_joined() -> None:
    one = Report(ServerStatus.FRESH, (problem(1),))
    other = Report(ServerStatus.PENDING, fixed=(problem(2),), detail="indexing", is_compared=False)
    text = Report(ServerStatus.UNSUPPORTED, is_compared=False)
    assert join_reports([one, text]).is_compared
    assert join_reports([one, other]) == Report(
        ServerStatus.PENDING, (problem(1),), (problem(2),), (), "indexing", is_compared=False
    )


def test_a_file_without_its_server_is_not_covered_by_what_is_known_of_others() -> None:
    known, missing = (
        Report(ServerStatus.FRESH, (problem(1),)),
        Report(ServerStatus.NOT_INSTALLED, detail="hint"),
    )
    whole = join_file_reports({"a.py": known, "b.sh": missing, "README.md": Report(ServerStatus.UNSUPPORTED)})
    assert whole == Report(ServerStatus.NOT_INSTALLED, (problem(1),), detail="hint", unchecked=("b.sh",))
    assert (whole.is_known, whole.is_known_in_part) == (False, True)
    reported = for_model(whole)
    assert (reported["server_status"], reported["not_checked"], reported["introduced_count"]) == (
        "not_installed",
        ["b.sh"],
        1,
    )


def test_too_large_a_file_is_not_covered_by_what_is_known_of_others() -> None:
    large = Report(ServerStatus.UNSUPPORTED, detail="too large")
    whole = join_file_reports({"a.py": Report(ServerStatus.FRESH), "b.py": large})
    assert (whole.status, whole.unchecked) == (ServerStatus.UNSUPPORTED, ("b.py",))
    awaited = join_file_reports({"a.py": Report(ServerStatus.PENDING), "b.py": large})
    assert (awaited.status, awaited.is_known_in_part) == (ServerStatus.PENDING, False)


def test_files_without_a_known_server_are_not_listed() -> None:
    text = Report(ServerStatus.UNSUPPORTED)
    assert join_file_reports({"a.py": Report(ServerStatus.FRESH), "README.md": text}) == Report(
        ServerStatus.FRESH
    )
    missing = Report(ServerStatus.NOT_INSTALLED, detail="hint")
    assert join_file_reports({"b.sh": missing, "README.md": text}) == missing


def test_a_model_gets_all_new_errors_and_a_few_warnings() -> None:
    many = tuple(problem(number, severity=WARNING) for number in range(9))
    reported = for_model(Report(ServerStatus.FRESH, (*many, problem(9)), (problem(1),), (problem(2),) * 3))
    assert [item["severity"] for item in reported["introduced"]] == ["error"] + ["warning"] * MOST_WARNINGS
    assert (reported["introduced_count"], reported["fixed_count"], reported["remaining_count"]) == (10, 1, 3)
    assert reported["introduced"][0]["line"] == 8
    assert "note" not in reported


def test_unknown_is_never_reported_as_clean() -> None:
    reported = for_model(Report(ServerStatus.PENDING))
    assert reported["note"] == "not yet known; this does not mean that there are no problems"
