"""Arguments in a command's prompt: in its text as they are, in its shell inserts as nothing but arguments."""

import shlex
import subprocess

import pytest
from hypothesis import given as any_of
from hypothesis import settings
from hypothesis import strategies as st

from coder_tui.agent.attachments.custom_command import Given, Insert, TemplateError, Text, filled
from coder_tui.skills.command_files import Dialect


def markdown(body: str, arguments: str) -> tuple[Text | Insert, ...]:
    return filled(body, Dialect.MARKDOWN, Given(arguments))


def toml(body: str, arguments: str) -> tuple[Text | Insert, ...]:
    return filled(body, Dialect.TOML, Given(arguments))


def test_places_are_filled_in_text() -> None:
    body = "All: $ARGUMENTS. First: $1. Third: $3. Money: $100 $1a."
    assert markdown(body, "fix 'the parser' now") == (
        Text("All: fix 'the parser' now. First: fix. Third: now. Money: $100 $1a."),
    )
    assert markdown("$1|$2|$9", "don't stop") == (Text("don't|stop|"),)


def test_inserts_are_found_before_arguments_are_filled_in() -> None:
    assert markdown("See !`git log $1` and $2.", "x '!`touch P`'") == (
        *(Text("See "), Insert("git log x"), Text(" and !`touch P`.")),
    )
    assert toml("See !{echo {{args}}} {{args}}", "!{touch P}") == (
        *(Text("See "), Insert("echo '!{touch P}'"), Text(" !{touch P}")),
    )


def test_gemini_files_become_mentions_and_braces_may_nest() -> None:
    assert toml("Look at @{docs/a b.md}: !{awk '{print $1}' x}", "") == (
        *(Text('Look at @"docs/a b.md": '), Insert("awk '{print $1}' x"), Text("")),
    )
    with pytest.raises(TemplateError, match="no end"):
        toml("!{echo {", "")


@pytest.mark.parametrize(
    ("insert", "arguments", "expected"),
    [
        ("git log $ARGUMENTS", "-n 5", "git log -n 5"),
        ("git log $ARGUMENTS", "a; rm -rf ~", "git log 'a;' rm -rf '~'"),
        ("cat $1", "'a b'", "cat 'a b'"),
        ("cat '$1'", '"it\'s"', "cat 'it'\\''s'"),
        ('cat "$1"', "'$(touch P)'", 'cat "\\$(touch P)"'),
        ("cat $1", "", "cat ''"),
        ("cat --file=$1", "'x y'", "cat --file='x y'"),
    ],
    ids=["words", "injection", "blank", "single", "double", "empty", "inside"],
)
def test_an_argument_stays_an_argument(insert: str, arguments: str, expected: str) -> None:
    assert markdown(f"!`{insert}`", arguments)[1] == Insert(expected)


@pytest.mark.parametrize("before", ['"$(cat ', "cat <<E\n", "x=${y:-", "echo # ", "$'", "echo \\"])
def test_where_quotes_are_not_what_they_seem_only_plain_words_are_taken(before: str) -> None:
    body = f"!{{{before}{{{{args}}}} }}" if "{" not in before else f"!{{{before}{{{{args}}}}}} }}"
    with pytest.raises(TemplateError):
        toml(body, "a; touch P")
    plain = toml(body, "a.txt")[1]
    assert isinstance(plain, Insert)
    assert "a.txt" in plain.command


@settings(max_examples=40, deadline=None)
@any_of(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_a_shell_reads_back_what_was_given(argument: str) -> None:
    quoted = shlex.quote(argument)
    for template in ("printf %s $1", "printf %s '$1'", 'printf %s "$1"'):
        part = markdown(f"!`{template}`", quoted)[1]
        assert isinstance(part, Insert)
        ran = subprocess.run(["/bin/sh", "-c", part.command], capture_output=True, check=True)
        assert ran.stdout == argument.encode()
