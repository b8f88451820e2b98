"""Show which tests cost processor time: `uv run pytest -p bench.suite_cost`.

Counts the worker's own time and that of the programs it waited for; programs that a test leaves to others
(tmux, the ready model process) are not in it.
"""

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import PurePosixPath

import pytest

_COST = "processor seconds"
_LONGEST = 60


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "teardown":
        report.user_properties.append((_COST, f"{_spent() - item.stash[_begun]:.3f}"))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_begun] = _spent()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tests: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == _COST:
                    tests[report.nodeid] = max(tests[report.nodeid], float(value))
    for title, depth in (("folder", 2), ("file", 9)):
        groups: dict[str, float] = defaultdict(float)
        for nodeid, seconds in tests.items():
            path = PurePosixPath(nodeid.partition("::")[0])
            groups["/".join(path.parts[:depth])] += seconds
        _table(terminalreporter, title, groups)
    _table(terminalreporter, "test", tests)
    terminalreporter.write_line(f"{sum(tests.values()):8.1f}  in all")


def _table(terminal: pytest.TerminalReporter, title: str, rows: dict[str, float]) -> None:
    terminal.section(f"processor seconds by {title}")
    for name, seconds in sorted(rows.items(), key=lambda row: -row[1])[:_LONGEST]:
        terminal.write_line(f"{seconds:8.1f}  {name}")


_begun = pytest.StashKey[float]()


def _spent() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
