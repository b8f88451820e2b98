"""What a server can do and wants to be told, in the forms that servers say it."""

from typing import Any

import pytest

from coder_tui.lsp.conversation import Conversation, Listener
from coder_tui.lsp.wire import ServerOrder

SAVES = "textDocument/didSave"


def conversation(sync: Any) -> Conversation:
    """With a server that said so of itself when it began."""
    listener = Listener(lambda uri, version, items: None, lambda: None, lambda: None)
    begun = Conversation(ServerOrder("fake", "fake", ("true",), "/", {}), listener)
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
def test_saves_are_told_to_whoever_says_a_word_of_them(sync: Any, wishes: tuple[bool, bool]) -> None:
    told = conversation(sync)
    assert (told.wants_saves, told.wants_saved_text) == wishes


@pytest.mark.parametrize("has_text", [False, True])
def test_saves_are_told_to_whoever_registers_for_them_later(has_text: bool) -> None:
    told = conversation({"change": 2})
    registration = {"id": "1", "method": SAVES, "registerOptions": {"includeText": has_text}}
    told.answer("client/registerCapability", {"registrations": [registration]})
    assert (told.wants_saves, told.wants_saved_text) == (True, has_text)
    told.answer("client/unregisterCapability", {"unregisterations": [{"id": "1", "method": SAVES}]})
    assert (told.wants_saves, told.wants_saved_text) == (False, False)
