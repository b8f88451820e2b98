"""A server that begins the conversation in an odd way is given up, and does not run on unseen."""

from typing import Any

import pytest

from coder_tui.lsp.conversation import Conversation, Listener
from coder_tui.lsp.document import PositionEncoding
from coder_tui.lsp.peer import GoneError
from coder_tui.lsp.wire import ServerOrder


def conversation() -> Conversation:
    order = ServerOrder("k", "n", ("true",), "/", {})
    return Conversation(order, Listener(lambda uri, version, found: None, lambda: None, lambda: None))


@pytest.mark.parametrize(
    "result", [["no"], "yes", 7, {"capabilities": "all"}, {"capabilities": {"positionEncoding": "utf-7"}}]
)
def test_an_answer_that_is_none_ends_the_attempt(result: Any) -> None:
    with pytest.raises(GoneError):
        conversation().begin(result)


@pytest.mark.parametrize("result", [None, {}, {"capabilities": None}, {"capabilities": {}}])
def test_a_server_that_says_nothing_of_itself_can_do_nothing(result: Any) -> None:
    begun = conversation()
    begun.begin(result)

    assert begun.encoding is PositionEncoding.UTF16
    assert not begun.can_pull
