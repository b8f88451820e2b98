"""The models to offer: a small table of current ones, what each lacks, and those of local servers.

Local servers are asked all at once, with a short timeout, on loopback only.
"""

import asyncio
import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from coder_tui.llm.providers import (
    LOCAL_SERVERS,
    PROVIDERS,
    LocalServer,
    provider_of,
    speaks_ollama,
)

_PATIENCE = 1.0
"""Seconds for an answer. A port without a server refuses at once; a server on a busy machine is slow."""
_LONGEST_ANSWER = 2**20
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_WINDOW_FIELDS = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "max_context_length",
    "n_ctx",
    "n_ctx_train",
)


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that a server offers; `context` is None if unknown."""

    name: str
    server: LocalServer
    context: int | None

    @property
    def id(self) -> str:
        return f"{self.server.prefix}/{self.name}"


async def find_local_models(
    environment: Mapping[str, str], servers: Sequence[LocalServer] = LOCAL_SERVERS
) -> tuple[LocalModel, ...]:
    """Return the models of all servers that answer in time."""
    found = await asyncio.gather(*(_models_of(server, environment) for server in servers))
    return tuple(model for models in found for model in models)


async def context_window_of(model: str, api_base: str) -> int | None:
    """Return the context window with which a local server runs `model`, or None if unknown.

    For Ollama it is the largest that the model supports.
    """
    name = model.partition("/")[2] or model
    if speaks_ollama(model):
        return _trained_window(await _answer(api_base, "/api/show", {"model": name}))
    entries = _entries(await _answer(api_base, "/models"))
    return next((_window(entry) for entry in entries if entry.get("id") == name), None)


async def _models_of(server: LocalServer, environment: Mapping[str, str]) -> tuple[LocalModel, ...]:
    entries = _entries(await _answer(server.api_base(environment), "/models"))
    names = [(entry.get("id"), _window(entry)) for entry in entries]
    return tuple(
        LocalModel(name, server, window)
        for name, window in names
        if isinstance(name, str) and "embed" not in name
    )


def _entries(listing: Any) -> list[dict[str, Any]]:
    data = listing.get("data") if isinstance(listing, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _window(entry: dict[str, Any]) -> int | None:
    meta = entry.get("meta")
    places = (entry, meta) if isinstance(meta, dict) else (entry,)
    sizes = (place.get(field) for place in places for field in _WINDOW_FIELDS)
    return next((size for size in sizes if isinstance(size, int) and size > 0), None)


def _trained_window(shown: Any) -> int | None:
    facts = shown.get("model_info") if isinstance(shown, dict) else None
    if not isinstance(facts, dict):
        return None
    size = facts.get(f"{facts.get('general.architecture')}.context_length")
    return size if isinstance(size, int) and size > 0 else None


async def _answer(api_base: str, path: str, question: dict[str, str] | None = None) -> Any:
    """Return the JSON answer at a path, or None: any program may listen on a common port."""
    try:
        address = urlsplit(api_base)
        host, port = address.hostname, address.port
        if address.scheme != "http" or host not in _LOOPBACK or host is None or port is None:
            return None
        where = address.path.rstrip("/") + path
        async with asyncio.timeout(_PATIENCE):
            return await asyncio.to_thread(_fetch_json, host, port, where, question)
    except (OSError, TimeoutError, http.client.HTTPException, ValueError):
        return None


def _fetch_json(host: str, port: int, path: str, question: dict[str, str] | None) -> Any:
    # Not urllib, which obeys the proxy variables.
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        method, body = ("GET", None) if question is None else ("POST", json.dumps(question))
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return json.loads(response.read(_LONGEST_ANSWER)) if response.status == 200 else None
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class KnownModel:
    """Context window in tokens, costs in dollars per million tokens."""

    id: str
    context: int
    cost_in: float
    cost_out: float
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A model to offer; `missing` says what is needed before it can be used."""

    id: str
    provider: str
    tags: tuple[str, ...]
    context: int | None
    cost_in: float | None
    cost_out: float | None
    available: bool
    missing: str


_MAIN, _STRONG, _SMALL = "main", "strong", "small"

# For each provider, the default comes first.
KNOWN_MODELS: tuple[KnownModel, ...] = (
    KnownModel("anthropic/claude-sonnet-5-5", 1_000_000, 2.0, 10.0, (_MAIN,)),
    KnownModel("anthropic/claude-opus-5-5", 1_000_000, 4.0, 20.0, (_STRONG,)),
    KnownModel("anthropic/claude-sonnet-4-6", 1_000_000, 3.0, 15.0),
    KnownModel("anthropic/claude-haiku-5-5", 1_000_000, 0.1, 0.5, (_SMALL,)),
    KnownModel("openai/gpt-6.1-sol", 922_000, 2.0, 10.0, (_MAIN,)),
    KnownModel("openai/gpt-6-astra", 922_000, 10.0, 50.0, (_STRONG,)),
    KnownModel("openai/gpt-5.6", 922_000, 4.0, 20.0),
    KnownModel("openai/gpt-6-luna", 922_000, 0.1, 0.5, (_SMALL,)),
    KnownModel("gemini/gemini-4-argon", 1_048_576, 2.0, 10.0, (_MAIN,)),
    KnownModel("gemini/gemini-3.8-flash", 1_048_576, 0.75, 3.75),
    KnownModel("gemini/gemini-3.5-flash-lite", 1_048_576, 0.3, 2.5, (_SMALL,)),
    KnownModel("mistral/mistral-medium-latest", 262_144, 1.5, 7.5, (_MAIN,)),
    KnownModel("mistral/devstral-latest", 256_000, 0.4, 2.0),
    KnownModel("mistral/mistral-small-latest", 262_144, 0.15, 0.6, (_SMALL,)),
    KnownModel("deepseek/deepseek-v4-pro", 1_000_000, 1.32, 3.96, (_MAIN,)),
    KnownModel("deepseek/deepseek-v4-flash", 1_000_000, 0.3, 1.2, (_SMALL,)),
    KnownModel("openrouter/anthropic/claude-sonnet-4.6", 1_000_000, 3.0, 15.0, (_MAIN,)),
    KnownModel("openrouter/anthropic/claude-haiku-4.5", 200_000, 1.0, 5.0, (_SMALL,)),
    KnownModel("groq/openai/gpt-oss-120b", 131_072, 0.15, 0.6, (_MAIN,)),
    KnownModel("groq/openai/gpt-oss-20b", 131_072, 0.075, 0.3, (_SMALL,)),
    KnownModel("xai/grok-4.7", 500_000, 2.0, 6.0, (_MAIN,)),
    KnownModel("xai/grok-code-fast-1", 256_000, 1.0, 2.0, (_SMALL,)),
)


async def available_models(
    environment: Mapping[str, str], *, probe: bool = True, servers: Sequence[LocalServer] = LOCAL_SERVERS
) -> tuple[CatalogEntry, ...]:
    """Return all models, in the table's order: available ones first, then those that lack a key."""
    local = await find_local_models(environment, servers) if probe else ()
    entries = [*(_known_entry(model, environment) for model in KNOWN_MODELS), *map(_local_entry, local)]
    return tuple(sorted(entries, key=lambda entry: not entry.available))


async def default_model(
    environment: Mapping[str, str], *, servers: Sequence[LocalServer] = LOCAL_SERVERS
) -> str | None:
    """Return a model of the first provider with a key, else the first of a local server, else None."""
    for provider in PROVIDERS:
        first = next((model for model in KNOWN_MODELS if provider_of(model.id) is provider), None)
        if first is not None and provider.has_key(environment):
            return first.id
    local = await find_local_models(environment, servers)
    return local[0].id if local else None


def small_model_for(model: str) -> str:
    """Return a cheap model of the same provider for titles and summaries, or the model itself."""
    provider = provider_of(model)
    if provider is None:
        return model
    small = (known.id for known in KNOWN_MODELS if _SMALL in known.tags and provider_of(known.id) is provider)
    return next(small, model)


def _known_entry(model: KnownModel, environment: Mapping[str, str]) -> CatalogEntry:
    provider = provider_of(model.id)
    assert provider is not None, f"{model.id} belongs to no provider of the table"
    has_key = provider.has_key(environment)
    return CatalogEntry(
        id=model.id,
        provider=provider.label,
        tags=model.tags,
        context=model.context,
        cost_in=model.cost_in,
        cost_out=model.cost_out,
        available=has_key,
        missing="" if has_key else f"set {' or '.join(provider.key_variables)}",
    )


def _local_entry(model: LocalModel) -> CatalogEntry:
    return CatalogEntry(
        id=model.id,
        provider=model.server.label,
        tags=("local",),
        context=model.context,
        cost_in=None,
        cost_out=None,
        available=True,
        missing="",
    )
