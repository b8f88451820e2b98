import sys
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
        ("\u3164\u115f\u2800", "<U+3164><U+115F>\u2800"),
        ("a\u034fb", "a<U+034F>b"),
        ("⚠\ufe0f 1\ufe0f\u20e3 \U0001f600\ufe0f", "⚠\ufe0f 1\ufe0f\u20e3 \U0001f600\ufe0f"),
        ("cu\ufe0frl ⚠\ufe0f\ufe0e", "cu<U+FE0F>rl ⚠\ufe0f<U+FE0E>"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468<U+200D>\U0001f469"),
    ],
)
def test_control_characters_are_shown_instead_of_obeyed(raw: str, shown: str) -> None:
    assert safe_text(raw) == shown


# Unicode's Default_Ignorable_Code_Point, but for the two selectors that emoji end in.
IGNORABLE = (
    *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010)),
    *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE0E), 0xFEFF, 0xFFA0),
    *(*range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)


def test_the_set_is_all_that_unicode_calls_control_format_or_ignorable() -> None:
    steering = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp") and chr(code) not in "\n\t"
    }
    # Older interpreters do not know yet that the rest of these are format characters.
    wanted = steering | set(IGNORABLE) | set(range(0x13430, 0x13440))
    assert {code for code in range(sys.maxunicode + 1) if has_unsafe(chr(code))} == wanted


@given(st.text(alphabet=st.characters(), max_size=200))
def test_no_control_character_gets_through(raw: str) -> None:
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


@given(
    st.text(
        st.sampled_from([*"a\n [", *map(chr, IGNORABLE[:60]), "\x1b", "\x9b", "\ufe0e", "\ufe0f", "\u26a0"])
    )
)
def test_many_characters_are_each_shown_like_a_single_one(raw: str) -> None:
    selectors = {"\ufe0e", "\ufe0f"}  # these alone depend on what stands before
    pairs = zip(["", *raw], raw, strict=False)
    alone = [
        safe_text(before + char)[len(safe_text(before)) :] if char in selectors else safe_text(char)
        for before, char in pairs
    ]
    assert safe_text(raw) == "".join(alone)
