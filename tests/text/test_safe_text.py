import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.text.safe_text import has_unsafe, safe_line, safe_text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x1b[2J", "␛[2J"),
        ("\x9b2J", "<U+009B>2J"),
        ("a\rb", "a␍b"),
        ("a\r\nb", "a\nb"),
        ("\x7f", "␡"),
        ("rm \u202efdp.exe", "rm <U+202E>fdp.exe"),
        ("c\u200burl", "c<U+200B>url"),
        ("\U000e0041", "<U+E0041>"),
        ("\ud800", "<U+D800>"),
        ("日本語 é ✓", "日本語 é ✓"),
    ],
)
def test_what_could_steer_a_terminal_is_shown_instead(raw: str, shown: str) -> None:
    assert safe_text(raw) == shown


@given(st.text(alphabet=st.characters(), max_size=200))
def test_nothing_that_steers_gets_through(raw: str) -> None:
    shown = safe_text(raw)
    unsafe = [
        char
        for char in shown
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in "\n\t"
    ]
    assert unsafe == []
    assert not has_unsafe(shown)
    shown.encode()


@given(st.text(max_size=100), st.integers(0, 100))
def test_a_cut_between_two_chunks_opens_no_gap(raw: str, cut: int) -> None:
    joined = safe_text(raw[:cut]) + safe_text(raw[cut:])
    assert not has_unsafe(joined)


def test_a_line_stays_one_line() -> None:
    assert safe_line("a\nb\tc\x1b") == "a␤b c␛"
