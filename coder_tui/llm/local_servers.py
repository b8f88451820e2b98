"""Asks the model servers on this machine what they offer: briefly, all at once, on loopback only."""

import asyncio
import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from coder_tui.llm.routes import LOCAL_SERVERS, LocalServer, speaks_ollama

_PATIENCE = 0.3
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
    """A model that a server offers; `context` is None where it does not say."""

    name: str
    server: LocalServer
    context: int | None

    @property
    def id(self) -> str:
        return f"{self.server.prefix}/{self.name}"


async def find_local_models(
    environment: Mapping[str, str], servers: Sequence[LocalServer] = LOCAL_SERVERS
) -> tuple[LocalModel, ...]:
    """The models of all servers that answer in time; who does not is not there."""
    found = await asyncio.gather(*(_models_of(server, environment) for server in servers))
    return tuple(model for models in found for model in models)


async def context_window_of(model: str, api_base: str) -> int | None:
    """The window that a server on this machine runs `model` with, None where nobody says.

    Ollama is asked for the largest that the model can have.
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
    """The answer at a path, None for anything else: on a usual port anyone may be listening."""
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
    # Not urllib: it would obey the proxy variables.
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        method, body = ("GET", None) if question is None else ("POST", json.dumps(question))
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return json.loads(response.read(_LONGEST_ANSWER)) if response.status == 200 else None
    finally:
        connection.close()
