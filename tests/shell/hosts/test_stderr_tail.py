"""The error output that explains why a program died."""

from coder_tui.shell.hosts.server import stderr_tail

TRACE = "\n".join(f"   {number}: some::place::in::it" for number in range(60))


def test_a_short_output_is_unchanged() -> None:
    assert stderr_tail("  one\ntwo\n") == "one\ntwo"


def test_an_error_above_a_long_trace_comes_first_and_no_line_is_cut() -> None:
    error = "error: Unknown binary 'x' in the toolchain."
    tail = stderr_tail(f"noise\n{error}\n\nStack backtrace:\n{TRACE}").splitlines()
    assert (tail[0], tail[-1]) == (error, "   59: some::place::in::it")
    assert set(tail[1:]) <= set(TRACE.splitlines())
    assert len("\n".join(tail)) <= 600


def test_the_last_error_counts_and_appears_once() -> None:
    tail = stderr_tail(f"error: first\n{TRACE}\nValueError: last")
    assert (tail.count("error: first"), tail.count("ValueError: last")) == (0, 1)


def test_a_line_without_end_is_cut() -> None:
    assert stderr_tail("x" * 5000) == "x" * 600
    assert stderr_tail("error: " + "x" * 5000) == "error: " + "x" * 593
