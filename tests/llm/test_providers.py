"""An address set for one provider never gets another provider's key."""

import pytest

from coder_tui.llm.providers import is_same_provider


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("openai/gpt-5", "openai/gpt-5-mini", True),
        ("gpt-5", "openai/gpt-5-mini", True),
        ("claude-x", "anthropic/claude-y", True),
        ("openai/gpt-5", "anthropic/claude-y", False),
        ("together_ai/a", "together_ai/b", True),
        ("together_ai/a", "fireworks_ai/b", False),
        ("hosted_vllm/a", "cohere/b", False),
        ("hosted_vllm/a", "openai/b", False),
    ],
)
def test_unknown_providers_are_distinguished_as_well(one: str, other: str, is_same: bool) -> None:
    assert is_same_provider(one, other) is is_same
    assert is_same_provider(other, one) is is_same
