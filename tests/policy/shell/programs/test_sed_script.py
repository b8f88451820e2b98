import pytest

from coder_tui.policy.shell.programs.stream_editors import is_harmless_sed


@pytest.mark.parametrize(
    "script",
    [
        "1,80p",
        "$p",
        "/foo/,/bar/p",
        "5q",
        "s/a/b/",
        "s/a/b/gp",
        "s|a/b|c|;s#x#y#",
        "/x/!d",
        "1d;$d",
        "/a/{p;q}",
        "s/\\/x/y/",
        "s/[ab]/c/2",
        "y/abc/xyz/",
        "0~3p",
        "/^$/d\n/x/p",
    ],
)
def test_scripts_that_only_change_what_is_printed(script: str) -> None:
    assert is_harmless_sed(script)


@pytest.mark.parametrize(
    "script",
    [
        "",
        "1e touch x",
        "e",
        "s/a/b/e",
        "s/a/b/w out",
        "s/a/b/gw out",
        "w out",
        "1,5w out",
        "W out",
        "r /etc/passwd",
        "R /etc/passwd",
        "p;w out",
        "p\nw out",
        "/a/{w out\n}",
        "s/[/]w x/b/",
        "s/a/b/;e",
        "a text",
        "\\,x,w out",
        "s/a",
        "s\nab\nc\n",
        "/x/e",
        "1!e",
        "s/a/b\nw out/",
        "}w out",
    ],
)
def test_scripts_that_may_run_or_write(script: str) -> None:
    assert not is_harmless_sed(script)
