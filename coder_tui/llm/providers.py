"""Providers by model id, with their labels and key variables, and short names for local servers.

`lm_studio/x` is the model `x` of that server's OpenAI-compatible API. Ollama is asked in its own dialect
(`ollama_chat/x`): the OpenAI-compatible one cannot set a context window.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from coder_tui.llm.client import ModelRequest


@dataclass(frozen=True, slots=True)
class Provider:
    """`prefix` is litellm's; any one of `key_variables` is enough; without any no key is needed."""

    prefix: str
    label: str
    key_variables: tuple[str, ...] = ()

    def has_key(self, environment: Mapping[str, str]) -> bool:
        return not self.key_variables or any(environment.get(name) for name in self.key_variables)


PROVIDERS: tuple[Provider, ...] = (
    Provider("anthropic", "Anthropic", ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")),
    Provider("openai", "OpenAI", ("OPENAI_API_KEY",)),
    Provider("gemini", "Gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
    Provider("mistral", "Mistral", ("MISTRAL_API_KEY",)),
    Provider("deepseek", "DeepSeek", ("DEEPSEEK_API_KEY",)),
    Provider("openrouter", "OpenRouter", ("OPENROUTER_API_KEY",)),
    Provider("groq", "Groq", ("GROQ_API_KEY",)),
    Provider("xai", "xAI", ("XAI_API_KEY",)),
)

_BY_PREFIX = {provider.prefix: provider for provider in PROVIDERS}
# Ids without a prefix whose provider litellm knows.
_BARE_FAMILIES = (
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
)


def provider_of(model: str) -> Provider | None:
    """Return the provider of a model id, or None if the table does not have it."""
    prefix, slash, _ = model.partition("/")
    if slash:
        return _BY_PREFIX.get(prefix)
    for start, prefix in _BARE_FAMILIES:
        if model.startswith(start):
            return _BY_PREFIX[prefix]
    return None


def is_same_provider(one: str, other: str) -> bool:
    """Return whether an address set for one model may get the other's key.

    Unknown providers compare by prefix.
    """
    return _family(one) == _family(other)


def _family(model: str) -> str:
    provider = provider_of(model)
    return provider.prefix if provider else model.partition("/")[0]


def needs_key(model: str, api_base: str, environment: Mapping[str, str]) -> Provider | None:
    """Return the provider whose key is missing for this call; a self-hosted server may need none."""
    provider = provider_of(model)
    if provider is None or api_base or provider.has_key(environment):
        return None
    return provider


def place_of(model: str, api_base: str) -> str:
    """Describe where a call goes, for the user: a host and port, or the provider's name."""
    if api_base:
        return urlsplit(api_base).netloc.rpartition("@")[2] or api_base
    provider = provider_of(model)
    return provider.label if provider else model.partition("/")[0]


@dataclass(frozen=True, slots=True)
class LocalServer:
    """`prefix` names its models; `base_variable` is litellm's variable for another address."""

    label: str
    prefix: str
    port: int
    base_variable: str

    def api_base(self, environment: Mapping[str, str]) -> str:
        return _with_path(environment.get(self.base_variable) or f"http://127.0.0.1:{self.port}")


LOCAL_SERVERS: tuple[LocalServer, ...] = (
    LocalServer("Ollama", "ollama", 11434, "OLLAMA_API_BASE"),
    LocalServer("LM Studio", "lm_studio", 1234, "LM_STUDIO_API_BASE"),
    LocalServer("llama.cpp", "llamacpp", 8080, "LLAMACPP_API_BASE"),
    LocalServer("vLLM", "hosted_vllm", 8000, "HOSTED_VLLM_API_BASE"),
)
OLLAMA = LOCAL_SERVERS[0]
OLLAMA_WINDOW = 32_768
"""Tokens to ask Ollama for if nothing else is set: enough to work with, and a few gigabytes at most."""
LOCAL_KEY = "none"
"""Clients require a key; local servers ignore it."""

_OLLAMA_DIALECT = "ollama_chat"
_OLLAMA_PATH = re.compile(r"/*(?:/v1|/api(?:/chat)?)?/*$")
_LOCAL_BY_PREFIX = {server.prefix: server for server in LOCAL_SERVERS}


def local_server_of(model: str) -> LocalServer | None:
    prefix, slash, _ = model.partition("/")
    return _LOCAL_BY_PREFIX.get(prefix) if slash else None


def routed(request: ModelRequest, environment: Mapping[str, str]) -> ModelRequest:
    """Return the request with a local short name resolved; other requests are unchanged."""
    prefix, _, name = request.model.partition("/")
    if name and prefix in (OLLAMA.prefix, _OLLAMA_DIALECT):
        address = _OLLAMA_PATH.sub("", request.api_base or OLLAMA.api_base(environment))
        return replace(request, model=f"{_OLLAMA_DIALECT}/{name}", api_base=address)
    server = local_server_of(request.model)
    if server is None:
        return request
    api_base = _with_path(request.api_base) if request.api_base else server.api_base(environment)
    return replace(request, model=f"openai/{name}", api_base=api_base)


def speaks_ollama(model: str) -> bool:
    """Return whether a routed model uses Ollama's own dialect."""
    return model.startswith(f"{_OLLAMA_DIALECT}/")


def may_cut_prompts(model: str, api_base: str) -> bool:
    """Return whether the server may silently drop what does not fit its context window."""
    if speaks_ollama(model) or local_server_of(model) is not None:
        return True
    try:
        return urlsplit(api_base).port == OLLAMA.port
    except ValueError:
        return False


def _with_path(address: str) -> str:
    """Add /v1, the OpenAI-compatible API, to a bare server address."""
    return address if urlsplit(address).path.strip("/") else address.rstrip("/") + "/v1"
