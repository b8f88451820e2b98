"""Expressions over names mean what `re` makes of them, and no expression takes long."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coder_tui.text.name_pattern import MOST_STEPS, name_pattern

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\w", r"\.", "_", "^", "$"])
TIMES = st.sampled_from(["", "*", "+", "?", "{2}", "{1,2}", "{2,}", "{,1}", "*?"])


def _more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.tuples(st.sampled_from(["(", "(?:", "(?P<n>"]), inner, st.just(")"), TIMES).map("".join)
    return group | st.tuples(inner, inner).map("".join) | st.tuples(inner, inner).map("|".join)


PATTERNS = st.recursive(st.tuples(ATOMS, TIMES).map("".join), _more, max_leaves=5)


def _is_known(pattern: str) -> bool:
    try:
        re.compile(pattern)
        name_pattern(pattern)
    except (re.error, ValueError):
        return False
    return True


@given(PATTERNS.filter(_is_known), st.text("ab_.", max_size=6))
@example("mcp__.*|Bash", "mcp__x")
@example("(a|ab)(c|bcd)?", "abcd")
@example("", "")
def test_it_covers_what_an_expression_fits_as_a_whole(pattern: str, name: str) -> None:
    assert name_pattern(pattern).covers(name) is bool(re.fullmatch(pattern, name))


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "(a|aa)+b", "a?" * 60 + "a" * 60 + "b", "a*" * 60 + "b", "((a*)*)*b"],
    ids=["nested", "same", "overlap", "maybe", "many", "deep"],
)
def test_an_ill_made_expression_ends(pattern: str) -> None:
    # Each of these would keep `re` busy for longer than anybody waits.
    assert not name_pattern(pattern).covers("a" * 100)


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("(", "is no regular expression: missing"),
        ("(?!mcp__).*", "only plain parts are possible here"),
        (r"(a)\1", "only plain parts are possible here"),
        ("(?i)bash", "only plain parts are possible here"),
        (r"\bread", "only plain parts are possible here"),
        ("a{1000}", "repeats something more than 100 times"),
        ("(((){100}){100}){100}", "is too long, or repeats too much"),
        ("a" * (MOST_STEPS + 1), "is too long, or repeats too much"),
        ("(" * 50 + ")" * 50, "has too many groups in each other"),
    ],
    ids=["none", "ahead", "back", "flag", "edge", "often", "nothing", "long", "deep"],
)
def test_what_cannot_be_read_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        name_pattern(pattern)
