"""Short names for servers on this machine: `lm_studio/x` is that server's OpenAI-compatible address.

Ollama is asked in its own dialect (`ollama_chat/x`): the other cannot set a context window.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from coder_tui.llm.client import ModelRequest


@dataclass(frozen=True, slots=True)
class LocalServer:
    """`prefix` names its models; `base_variable` moves it elsewhere, as litellm's users know it."""

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
"""Clients insist on a key; local servers do not look at it."""

_OLLAMA_DIALECT = "ollama_chat"
_OLLAMA_PATH = re.compile(r"/*(?:/v1|/api(?:/chat)?)?/*$")
_BY_PREFIX = {server.prefix: server for server in LOCAL_SERVERS}


def local_server_of(model: str) -> LocalServer | None:
    prefix, slash, _ = model.partition("/")
    return _BY_PREFIX.get(prefix) if slash else None


def routed(request: ModelRequest, environment: Mapping[str, str]) -> ModelRequest:
    """The request with a local short name spelled out; others come back as they are."""
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
    """Whether a routed model is asked in Ollama's own dialect."""
    return model.startswith(f"{_OLLAMA_DIALECT}/")


def may_cut_prompts(model: str, api_base: str) -> bool:
    """Whether the server is of a kind that silently drops what does not fit its context window."""
    if speaks_ollama(model) or local_server_of(model) is not None:
        return True
    try:
        return urlsplit(api_base).port == OLLAMA.port
    except ValueError:
        return False


def _with_path(address: str) -> str:
    """People give the bare address of such a server; its OpenAI-compatible half stands under /v1."""
    return address if urlsplit(address).path.strip("/") else address.rstrip("/") + "/v1"
