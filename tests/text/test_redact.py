"""Keys never show, by shape or by value."""

import pytest

from coder_tui.text.redact import MASK, Redactor


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Incorrect API key provided: sk-proj-abcdef0123456789.", f"Incorrect API key provided: {MASK}."),
        ("sk-ant-api03-abcDEF_0123-456789", MASK),
        ("https://x/v1?key=abc123&alt=sse", f"https://x/v1?key={MASK}&alt=sse"),
        ("Authorization: Bearer abcdefgh12345", f"Authorization: Bearer {MASK}"),
        ("http://user:pass@proxy:3128", f"http://{MASK}@proxy:3128"),
        ("AIzaSyA0123456789abcdefghij", MASK),
        ("the task-oriented disk-based design", "the task-oriented disk-based design"),
    ],
)
def test_keys_are_known_by_their_shape(text: str, clean: str) -> None:
    assert Redactor({})(text) == clean


def test_known_values_are_hidden_whatever_their_shape() -> None:
    redact = Redactor(
        {"MISTRAL_API_KEY": "plainvalue", "MY_SECRET": "plainvalue-longer", "HOME": "/home/x", "A_KEY": "ab"}
    )
    assert redact("plainvalue-longer plainvalue /home/x ab") == f"{MASK} {MASK} /home/x ab"
