"""Who may connect to `coder-tui serve`."""

import pytest

from coder_tui.serve.server import Gate, is_loopback

GATE = Gate("a-token-of-some-length", "127.0.0.1", "/folder/")


@pytest.mark.parametrize(
    ("given", "is_known"),
    [
        ("a-token-of-some-length", True),
        ("a-token-of-some-lengtH", False),
        ("", False),
        (None, False),
        ("ä", False),
    ],
    ids=["right", "wrong", "empty", "none", "letters"],
)
def test_only_the_token_is_known(given: str | None, is_known: bool) -> None:
    assert GATE.knows(given) is is_known


@pytest.mark.parametrize(
    ("bound", "header", "is_served"),
    [
        ("127.0.0.1", "127.0.0.1:8000", True),
        ("127.0.0.1", "localhost:8000", True),
        ("127.0.0.1", "LOCALHOST", True),
        ("::1", "[::1]:8000", True),
        ("127.0.0.1", "evil.example:8000", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
        ("127.0.0.1", "10.0.0.5:8000", False),
        ("127.0.0.1", "[::1", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", None, False),
        ("0.0.0.0", "10.0.0.5:8000", True),
        ("0.0.0.0", "evil.example", False),
        ("box.example", "box.example:80", True),
        ("box.example", "localhost:80", False),
    ],
)
def test_a_foreign_name_that_points_here_is_not_served(
    bound: str, header: str | None, is_served: bool
) -> None:
    assert Gate("token", bound).serves(header) is is_served


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://127.0.0.1:8001", False),
        ("http://evil.example", False),
        ("null", False),
        (None, False),
    ],
)
def test_only_its_own_page_may_open_a_socket(origin: str | None, is_own: bool) -> None:
    assert GATE.is_own_page(origin, "127.0.0.1:8000") is is_own


def test_each_server_has_its_own_folder_and_cookie() -> None:
    one, other = Gate("token", "127.0.0.1"), Gate("token", "127.0.0.1")
    assert one.folder != other.folder
    assert one.cookie != other.cookie


@pytest.mark.parametrize(("host", "is_local"), [("127.8.0.1", True), ("localhost", True), ("0.0.0.0", False)])
def test_loopback_is_known_by_its_address(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local
