"""Secrets that arrive in pieces are hidden too, and the text that is held back is bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder_tui.text.redact import MASK, KnownStream, LineStream, Redactor

VALUE = "abcX1abc"
LONGER = "abcX1abc-and-more-2"
REDACT = Redactor({"ONE_API_KEY": VALUE, "TWO_API_KEY": LONGER})
KEY = "sk-ant-abcdefgh0123456789"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "aB3dE5fG7hI9jK1l\n" * 30 + "-----END PRIVATE KEY-----"


def fed(stream: KnownStream | LineStream, text: str, cuts: list[int]) -> str:
    ends = [*sorted(cuts), len(text)]
    read, start = "", 0
    for end in ends:
        read += stream.feed(text[start:end])
        start = max(start, end)
    return read + stream.finish()


@given(
    st.lists(st.sampled_from([VALUE, LONGER, "abc", "X1", "a", " ", "-and"]), max_size=12).map("".join),
    st.lists(st.integers(0, 120), max_size=8),
)
def test_pieces_do_not_change_what_is_hidden(text: str, cuts: list[int]) -> None:
    assert fed(KnownStream(REDACT), text, cuts) == REDACT.known(text)


def test_only_the_beginning_of_a_secret_is_held_back() -> None:
    stream = KnownStream(REDACT)
    assert [stream.feed(piece) for piece in ("load 10%\r", "load abc", "d ab", "cX1abc ")] == [
        "load 10%\r",
        "load ",
        "abcd ",
        f"{MASK} ",
    ]


def test_without_secrets_nothing_is_held_back() -> None:
    stream = KnownStream(Redactor({}))
    assert (stream.feed("abc"), stream.finish()) == ("abc", "")


@pytest.mark.parametrize("size", [1, 3, 7, 50, 1000])
def test_shapes_are_found_across_pieces(size: int) -> None:
    text = f"first\nkey {KEY} end\n{PEM}\nlast {LONGER} line"
    assert fed(LineStream(REDACT), text, list(range(0, len(text), size))) == REDACT(text)


@pytest.mark.parametrize("size", [13, 1000, 9001])
def test_a_very_long_line_is_passed_on_with_its_secrets_hidden(size: int) -> None:
    text = f"{'word ' * 3000}{KEY} {'x' * 30_000} {KEY}{'y' * 9_000}"
    read = fed(LineStream(REDACT), text, list(range(0, len(text), size)))
    assert "0123456789" not in read
    assert read.startswith("word word") and read.endswith("y" * 100)


def test_what_is_held_back_is_bounded() -> None:
    stream = LineStream(REDACT)
    released = sum(len(stream.feed("z" * 1000)) for _ in range(500))
    assert 500_000 - released < 20_000
    released = sum(len(stream.feed("-----BEGIN x\n")) for _ in range(5000))
    assert len(stream.finish()) < 30_000
