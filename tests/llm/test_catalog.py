"""Which models can be used, and what the others lack."""

import pytest

from coder_tui.llm.catalog import (
    KNOWN_MODELS,
    CatalogEntry,
    available_models,
    context_window_of,
    default_model,
    small_model_for,
)
from coder_tui.llm.providers import LocalServer, needs_key, place_of, provider_of
from tests.fakes.openai_server import OpenAIServer

MISTRAL = {"MISTRAL_API_KEY": "k"}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a server as long as it takes, however busy the machine is."""
    monkeypatch.setattr("coder_tui.llm.catalog._PATIENCE", 60.0)


def local(server: OpenAIServer) -> LocalServer:
    return LocalServer("Ollama", "ollama", server.port, "NOWHERE")


async def test_models_with_a_key_come_first_and_the_rest_say_what_is_missing() -> None:
    entries = await available_models(MISTRAL, probe=False)
    ready = [entry.id for entry in entries if entry.available]
    assert ready == [entry.id for entry in entries][: len(ready)]
    assert {entry.provider for entry in entries if entry.available} == {"Mistral"}
    missing = {entry.missing for entry in entries if entry.provider == "Gemini"}
    assert missing == {"set GEMINI_API_KEY or GOOGLE_API_KEY"}


async def test_every_known_model_is_listed_once() -> None:
    entries = await available_models({}, probe=False)
    assert sorted(entry.id for entry in entries) == sorted({model.id for model in KNOWN_MODELS})


async def test_a_local_server_that_answers_is_listed() -> None:
    async with OpenAIServer([]) as server:
        entries = await available_models({}, servers=(local(server),))
    assert entries[0] == CatalogEntry("ollama/scripted", "Ollama", ("local",), None, None, None, True, "")


async def test_missing_servers_are_not_listed() -> None:
    with OpenAIServer([]) as server:
        gone = local(server)
    entries = await available_models({}, servers=(gone,))
    assert [entry for entry in entries if entry.available] == []


async def test_only_loopback_is_probed() -> None:
    server = LocalServer("Ollama", "ollama", 1, "BASE")
    entries = await available_models({"BASE": "http://example.invalid:80"}, servers=(server,))
    assert [entry for entry in entries if entry.available] == []


async def test_the_default_is_the_first_provider_with_a_key() -> None:
    assert await default_model({**MISTRAL, "XAI_API_KEY": "k"}) == "mistral/mistral-medium-latest"


async def test_without_a_key_a_local_server_is_the_default() -> None:
    async with OpenAIServer([]) as server:
        assert await default_model({}, servers=(local(server),)) == "ollama/scripted"


async def test_without_anything_there_is_no_default() -> None:
    assert await default_model({}, servers=()) is None


async def test_a_server_that_does_not_say_its_window_leaves_it_unknown() -> None:
    async with OpenAIServer([]) as server:
        assert await context_window_of("openai/scripted", server.url) is None


async def test_a_local_server_is_asked_for_its_window() -> None:
    async with OpenAIServer([], models=({"id": "scripted", "max_model_len": 8192},)) as server:
        assert await context_window_of("openai/scripted", server.url) == 8192


@pytest.mark.parametrize(
    ("model", "small"),
    [
        ("anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5"),
        ("gpt-5.6", "openai/gpt-6-luna"),
        ("ollama/x", "ollama/x"),
        ("foo/bar", "foo/bar"),
    ],
)
def test_titles_go_to_a_small_model_of_the_same_provider(model: str, small: str) -> None:
    assert small_model_for(model) == small


def test_a_key_is_needed_unless_it_is_set_or_the_server_is_self_hosted() -> None:
    needed = [
        needs_key("openai/x", "", {}),
        needs_key("openai/x", "", {"OPENAI_API_KEY": "k"}),
        needs_key("openai/x", "http://127.0.0.1:1/v1", {}),
        needs_key("bedrock/x", "", {}),
    ]
    assert needed == [provider_of("openai/x"), None, None, None]


def test_the_place_of_a_call_never_shows_credentials() -> None:
    places = [place_of("openai/x", "http://u:p@box:1/v1"), place_of("openai/x", ""), place_of("foo/x", "")]
    assert places == ["box:1", "OpenAI", "foo"]
