"""Why a program died, in few words."""

from coder_tui.shell.hosts.server import last_words

TRACE = "\n".join(f"   {number}: some::place::in::it" for number in range(60))


def test_a_short_output_is_told_as_it_is() -> None:
    assert last_words("  one\ntwo\n") == "one\ntwo"


def test_an_error_above_a_long_trace_comes_first_and_no_line_is_cut() -> None:
    error = "error: Unknown binary 'x' in the toolchain."
    told = last_words(f"noise\n{error}\n\nStack backtrace:\n{TRACE}").splitlines()
    assert (told[0], told[-1]) == (error, "   59: some::place::in::it")
    assert set(told[1:]) <= set(TRACE.splitlines())
    assert len("\n".join(told)) <= 600


def test_the_last_error_counts_and_is_told_once() -> None:
    told = last_words(f"error: first\n{TRACE}\nValueError: last")
    assert (told.count("error: first"), told.count("ValueError: last")) == (0, 1)


def test_a_line_without_end_is_cut() -> None:
    assert last_words("x" * 5000) == "x" * 600
    assert last_words("error: " + "x" * 5000) == "error: " + "x" * 593
