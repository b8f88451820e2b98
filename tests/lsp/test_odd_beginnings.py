"""A server that starts in an invalid way is given up, and does not keep running."""

from typing import Any

import pytest

from coder_tui.lsp.document import PositionEncoding
from coder_tui.lsp.server_session import GoneError, Listener, ServerSession
from coder_tui.lsp.wire import ServerOrder


def begun_session() -> ServerSession:
    order = ServerOrder("k", "n", ("true",), "/", {})
    return ServerSession(order, Listener(lambda uri, version, found: None, lambda: None, lambda: None))


@pytest.mark.parametrize(
    "result", [["no"], "yes", 7, {"capabilities": "all"}, {"capabilities": {"positionEncoding": "utf-7"}}]
)
def test_an_invalid_answer_ends_the_start(result: Any) -> None:
    with pytest.raises(GoneError):
        begun_session().begin(result)


@pytest.mark.parametrize("result", [None, {}, {"capabilities": None}, {"capabilities": {}}])
def test_a_server_without_capabilities_can_do_nothing(result: Any) -> None:
    begun = begun_session()
    begun.begin(result)

    assert begun.encoding is PositionEncoding.UTF16
    assert not begun.can_pull
