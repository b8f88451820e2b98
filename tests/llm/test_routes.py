"""Short names of local servers are spelled out."""

import pytest

from coder_tui.llm.client import ModelRequest
from coder_tui.llm.providers import routed


@pytest.mark.parametrize(
    ("model", "api_base", "environment", "expected"),
    [
        ("ollama/qwen3:8b", "", {}, ("ollama_chat/qwen3:8b", "http://127.0.0.1:11434")),
        ("lm_studio/a/b", "", {}, ("openai/a/b", "http://127.0.0.1:1234/v1")),
        ("ollama/x", "", {"OLLAMA_API_BASE": "http://box:9/"}, ("ollama_chat/x", "http://box:9")),
        ("ollama/x", "http://box:7", {}, ("ollama_chat/x", "http://box:7")),
        ("ollama/x", "http://box:7/v1/", {}, ("ollama_chat/x", "http://box:7")),
        ("ollama/x", "http://box:7/proxy/v1", {}, ("ollama_chat/x", "http://box:7/proxy")),
        ("ollama_chat/x", "", {"OLLAMA_API_BASE": "http://box:9/"}, ("ollama_chat/x", "http://box:9")),
        ("lm_studio/x", "http://box:7", {}, ("openai/x", "http://box:7/v1")),
        ("lm_studio/x", "http://box:7/api", {}, ("openai/x", "http://box:7/api")),
        ("ollama/x", "http://box:7/api", {}, ("ollama_chat/x", "http://box:7")),
        ("openai/x", "http://box:7", {}, ("openai/x", "http://box:7")),
        ("ollama", "", {}, ("ollama", "")),
    ],
)
def test_a_short_name_becomes_an_address(
    model: str, api_base: str, environment: dict[str, str], expected: tuple[str, str]
) -> None:
    made = routed(ModelRequest(model, "", (), api_base=api_base), environment)
    assert (made.model, made.api_base) == expected
