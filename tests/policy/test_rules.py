import pytest

from coder_tui.policy.rules import allows_command, key_matches, pattern_matches


@pytest.mark.parametrize(
    ("pattern", "value", "is_match"),
    [
        ("*", "", True),
        ("a*", "a", True),
        ("a*c", "abc", True),
        ("a*c", "abcd", False),
        ("*b*", "abc", True),
        ("a*a", "a", False),
        ("a?c", "abc", True),
        ("?*?", "x", False),
        ("[x]*", "[x]y", True),
        ("a*b*c", "a b b c", True),
        ("*ab", "aab", True),
    ],
)
def test_patterns_are_globs(pattern: str, value: str, is_match: bool) -> None:
    assert pattern_matches(pattern, value) is is_match


def test_many_stars_over_a_long_text_finish() -> None:
    assert not pattern_matches("*a" * 30 + "*b", "a" * 100_000)


@pytest.mark.parametrize(
    ("pattern", "text", "is_allowed"),
    [
        ("ls*", "ls", True),
        ("ls*", "ls -l", True),
        ("ls*", "lsof", False),
        ("ls*", "ls.sh", False),
        ("ls*", "ls/../run.sh", False),
        ("cat*", "catchsegv ./x", False),
        ("python*", "python3.12 x.py", True),
        ("git status*", "git status -s", True),
        ("./scripts/*", "./scripts/x.sh", True),
        ("*", "anything", True),
        ("npm run build*", "npm run build:all", True),
    ],
)
def test_a_star_behind_a_program_stands_for_its_arguments(pattern: str, text: str, is_allowed: bool) -> None:
    assert allows_command(pattern, text) is is_allowed


def test_only_keys_of_servers_are_patterns() -> None:
    assert key_matches("mcp__db__*", "mcp__db__query")
    assert not key_matches("mcp__db__*", "mcp__dbx__query")
    assert not key_matches("ba*", "bash")
    assert key_matches("*", "bash")
