"""What a server can do and which notifications it wants, in all forms that servers use."""

from typing import Any

import pytest

from coder_tui.lsp.server_session import Listener, ServerSession
from coder_tui.lsp.wire import ServerOrder

SAVES = "textDocument/didSave"


def begun_session(sync: Any) -> ServerSession:
    """Return a session with a server that reported this when it started."""
    listener = Listener(lambda uri, version, items: None, lambda: None, lambda: None)
    begun = ServerSession(ServerOrder("fake", "fake", ("true",), "/", {}), listener)
    begun.begin({"capabilities": {} if sync is None else {"textDocumentSync": sync}})
    return begun


@pytest.mark.parametrize(
    ("sync", "wishes"),
    [
        (None, (False, False)),
        (1, (True, False)),
        ({"change": 1}, (False, False)),
        ({"change": 1, "save": False}, (False, False)),
        ({"change": 1, "save": True}, (True, False)),
        ({"change": 1, "save": {}}, (True, False)),
        ({"change": 1, "save": {"includeText": True}}, (True, True)),
    ],
)
def test_servers_that_mention_saves_are_notified_of_them(sync: Any, wishes: tuple[bool, bool]) -> None:
    session = begun_session(sync)
    assert (session.wants_saves, session.wants_saved_text) == wishes


@pytest.mark.parametrize("has_text", [False, True])
def test_servers_that_register_for_saves_later_are_notified(has_text: bool) -> None:
    session = begun_session({"change": 2})
    registration = {"id": "1", "method": SAVES, "registerOptions": {"includeText": has_text}}
    session.answer_request("client/registerCapability", {"registrations": [registration]})
    assert (session.wants_saves, session.wants_saved_text) == (True, has_text)
    session.answer_request(
        "client/unregisterCapability", {"unregisterations": [{"id": "1", "method": SAVES}]}
    )
    assert (session.wants_saves, session.wants_saved_text) == (False, False)
