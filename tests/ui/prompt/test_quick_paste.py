"""Pastes are taken by the piece, and everything else as Textual takes it."""

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver

from coder_tui.ui.textual_internals import QuickPasteParser, take_pastes_quickly

TYPED = st.text("ab é\r\t", max_size=6)
PASTED = st.text("xy z\r\n[201~é", max_size=12)


def said(parser: XTermParser, stream: str, size: int) -> list[tuple[str, str]]:
    found = []
    for start in range(0, len(stream), size):
        for event in parser.feed(stream[start : start + size]):
            match event:
                case events.Paste(text=text):
                    found.append(("paste", text))
                case events.Key(key=key):
                    found.append(("key", key))
    return found


@given(st.lists(st.tuples(TYPED, PASTED), max_size=4), st.integers(1, 30))
def test_a_stream_means_the_same_however_it_is_cut(parts: list[tuple[str, str]], size: int) -> None:
    stream = "".join(f"{typed}\x1b[200~{pasted}\x1b[201~" for typed, pasted in parts) + "q"

    expected = [
        each
        for typed, pasted in [*parts, ("q", None)]
        for each in [*said(XTermParser(), typed, 99), *([("paste", pasted)] if pasted is not None else [])]
    ]
    stock = said(XTermParser(), stream, len(stream))

    assert said(QuickPasteParser(), stream, len(stream)) == expected
    assert said(QuickPasteParser(), stream, size) == expected
    assert stock == expected


def test_an_end_mark_may_come_in_two_pieces() -> None:
    parser = QuickPasteParser()
    first = said(parser, "\x1b[200~some text\x1b[2", 99)
    assert first + said(parser, "01~k", 99) == [("paste", "some text"), ("key", "k")]


def test_the_driver_uses_it() -> None:
    before = vars(linux_driver)["XTermParser"]
    try:
        take_pastes_quickly()
        assert vars(linux_driver)["XTermParser"] is QuickPasteParser
    finally:
        vars(linux_driver)["XTermParser"] = before
