"""Old and new versions of a line are paired, and its changed words are known."""

import pytest

from coder_tui.diffs.words import FARTHEST, LONGEST_EMPHASISED, align, changed_words, distance


@pytest.mark.parametrize(
    ("old", "new", "is_related"),
    [
        ("return a / b", "return a / b or 0", True),
        ("return a / b", "if b == 0:", False),
        ("    x", "\tx", True),
        ("", "  ", True),
        ("", "x", False),
        ("}", ")", False),
        ("日本語", "日本語 x", True),
    ],
)
def test_lines_are_related_by_the_words_they_share(old: str, new: str, is_related: bool) -> None:
    assert (distance(old, new) <= FARTHEST) is is_related


def test_pairs_keep_the_order_of_both_sides() -> None:
    aligned = align(["alpha one", "beta two"], ["beta two!", "alpha one!"])
    assert aligned.rows in {((None, 0), (0, 1), (1, None)), ((0, None), (1, 0), (None, 1))}


def test_the_nearest_line_is_taken_not_the_first_that_would_do() -> None:
    aligned = align(["call(alpha, beta)"], ["call(alpha, gamma)", "call(alpha, beta) + 1"])
    assert aligned.rows == ((None, 0), (0, 1))
    assert aligned.related == {1}


def test_lines_of_a_large_run_are_paired_too() -> None:
    old = [f"name{n} = value{n}" for n in range(100)]
    aligned = align(old, ["import more", *(f"{line} + 1" for line in old)])
    assert aligned.rows == ((None, 0), *((n, n + 1) for n in range(100)))


@pytest.mark.parametrize(
    ("old", "new", "old_spans", "new_spans"),
    [
        ("a = foo(b)", "a = bar(b)", ["foo"], ["bar"]),
        ("return a", "return a + b", [], [" + b"]),
        ("x = one two three", "x = uno dos tres", ["one two three"], ["uno dos tres"]),
        ("a.b(c)", "d.e(c)", ["a.b"], ["d.e"]),
        ("x ", "x", [" "], []),
        ("\tx", "    x", ["\t"], ["    "]),
        ("名前 = 値", "名前 = 数", ["値"], ["数"]),
        ("same", "same", [], []),
    ],
)
def test_changed_words_are_found(old: str, new: str, old_spans: list[str], new_spans: list[str]) -> None:
    found = changed_words(old, new)
    assert [old[start:end] for start, end in found[0]] == old_spans
    assert [new[start:end] for start, end in found[1]] == new_spans


def test_words_of_a_very_long_line_are_not_compared() -> None:
    long = "x " * LONGEST_EMPHASISED
    assert changed_words(long, f"{long}y") == ((), ())
