"""Path patterns mean what people expect, in linear time."""

import pytest

from coder_tui.workspace.search.ignore import PathPattern, PatternError


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", True),
        ("*.py", "a.pyc", False),
        ("/a.py", "a.py", True),
        ("/a.py", "src/a.py", False),
        ("src/*", "src/a/b", False),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("**/b", "b", True),
        ("**/b/**/c", "a/b/x/b/c", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b/c", "a/b/x/b/c", True),
        ("a/*/b", "a/b", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[x", "[x", True),
        ("[]]", "]", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a{b,c{d,e}}", "ace", True),
        ("a{b}", "a{b}", True),
        ("*a*b", "xaxbxb", True),
        ("*ab*ab", "abab", True),
        ("*ab*ab", "aab", False),
        ("?", "é", True),
        ("*", ".hidden", True),
    ],
)
def test_a_pattern_matches_what_it_should(pattern: str, path: str, matches: bool) -> None:
    assert PathPattern.parse(pattern).matches(path) is matches


@pytest.mark.parametrize("pattern", ["[z-a]", "{a,b}" * 7])
def test_an_invalid_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        PathPattern.parse(pattern)


def test_many_stars_take_no_time() -> None:
    assert not PathPattern.parse("*a" * 50 + "*b").matches("a" * 1_000)
    assert not PathPattern.parse("**/a/" * 50 + "b").matches("a/" * 1_000 + "c")


@pytest.mark.parametrize(
    "pattern",
    [
        "*.py",
        "**/*_7.py",
        "src/*.{ts,tsx}",
        "a[bc]",
        "a[b",
        r"a\*b",
        "x?",
        "src/.",
        "src/",
        "src/**",
        "{a}",
        "**",
    ],
)
def test_the_quick_look_at_the_end_changes_no_answer(pattern: str) -> None:
    quick = PathPattern.parse(pattern)
    slow = PathPattern(quick.alternatives, ("",))
    paths = [
        "a.py",
        "f_7.py",
        "src/a.ts",
        "src/a.tsx",
        "ab",
        "a[b",
        "a*b",
        "xy",
        "src",
        "src/a/b",
        "{a}",
        "src/.",
    ]

    assert [path for path in paths if quick.matches(path)] == [path for path in paths if slow.matches(path)]
