"""Expressions over names mean the same as in `re`, and none takes long."""

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
def test_it_matches_whole_names_like_re(pattern: str, name: str) -> None:
    assert name_pattern(pattern).covers(name) is bool(re.fullmatch(pattern, name))


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "(a|aa)+b", "a?" * 60 + "a" * 60 + "b", "a*" * 60 + "b", "((a*)*)*b"],
    ids=["nested", "same", "overlap", "maybe", "many", "deep"],
)
def test_a_catastrophic_expression_finishes(pattern: str) -> None:
    # `re` would take far too long for each of these.
    assert not name_pattern(pattern).covers("a" * 100)


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("(", "is not a valid regular expression: missing"),
        ("(?!mcp__).*", "are supported here, not"),
        (r"(a)\1", "are supported here, not"),
        ("(?i)bash", "are supported here, not"),
        (r"\bread", "are supported here, not"),
        ("a{1000}", "repeats something more than 100 times"),
        ("(((){100}){100}){100}", "is too long, or repeats too much"),
        ("a" * (MOST_STEPS + 1), "is too long, or repeats too much"),
        ("(" * 50 + ")" * 50, "has too many nested groups"),
    ],
    ids=["none", "ahead", "back", "flag", "edge", "often", "nothing", "long", "deep"],
)
def test_an_unsupported_expression_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        name_pattern(pattern)
