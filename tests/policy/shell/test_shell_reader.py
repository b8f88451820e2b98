import pytest

from coder_tui.policy.shell.reader import NotPlainError, read_plain


def words(text: str) -> list[list[str]]:
    return [[word.text for word in step.words] for step in read_plain(text)]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("ls -la", [["ls", "-la"]]),
        ("\\curl h", [["curl", "h"]]),
        ("c''url h", [["curl", "h"]]),
        ('"cu"rl h', [["curl", "h"]]),
        ("c\\\nurl h", [["curl", "h"]]),
        ('echo "a \\"b\\" \\$c \\d"', [["echo", 'a "b" $c \\d']]),
        ("echo 'a\\b'\\''c'", [["echo", "a\\b'c"]]),
        ("echo '' \"\"", [["echo", "", ""]]),
        ("a;b&&c||d|e&f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("ls # a; b\npwd", [["ls"], ["pwd"]]),
        ("echo a#b", [["echo", "a#b"]]),
        ("echo x>f 2>&1 <g", [["echo", "x"]]),
        ("rg 'foo$' \"bar$\"", [["rg", "foo$", "bar$"]]),
    ],
)
def test_words_are_read_as_a_shell_passes_them(text: str, read: list[list[str]]) -> None:
    assert words(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "echo $x",
        'echo "$x"',
        "echo `x`",
        'echo "`x`"',
        "echo $'x'",
        "(ls)",
        "f() { ls; }",
        "cat <<EOF",
        "cat <<< x",
        "ls &> f",
        "ls |& cat",
        "ls >| f",
        "cat <> f",
        "ls &&& rm",
        "ls ;; rm",
        "| ls",
        "ls |",
        "ls >",
        "echo 'open",
        'echo "open',
        "ls \\",
        "ls {fd}>f",
        "ls 10>f",
    ],
)
def test_more_than_plain_words_is_rejected(text: str) -> None:
    with pytest.raises(NotPlainError):
        read_plain(text)


@pytest.mark.parametrize("word", ["~", "~/x", "a=~/x", "{a,b}", "{1..3}", "=ls", "–delete", "$?"])
def test_a_word_that_the_shell_would_change_is_doubtful(word: str) -> None:
    assert read_plain(f"ls {word}")[0].words[1].doubt


@pytest.mark.parametrize(
    "word", ["HEAD~1", "HEAD^", "stash@{0}", "{}", "a=b", "'~'", "'{a,b}'", "--x=y", "!", "é"]
)
def test_a_word_that_only_looks_special_is_not(word: str) -> None:
    assert read_plain(f"ls {word}")[0].words[1].doubt == ""


def test_patterns_escape_their_quoted_parts() -> None:
    patterns = [word.glob for word in read_plain("ls *.py 'a*' \"b*\"* \\*c [ab] [")[0].words]
    assert patterns == ["", "*.py", "", "b[*]*", "", "[ab]", ""]
