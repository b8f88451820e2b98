"""What of our environment the model process gets: what providers need, and nothing else."""

import re
from collections.abc import Mapping

_NEEDED = re.compile(
    r"""
    PATH | HOME | USER | LANG | LC_\w+ | TZ | TMPDIR | SYSTEMROOT | XDG_\w+ | LD_LIBRARY_PATH
    | (?: HTTP | HTTPS | ALL | NO )_PROXY
    | SSL_CERT_FILE | SSL_CERT_DIR | SSL_VERIFY | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE | NODE_EXTRA_CA_CERTS
    | \w+_API_KEY | \w+_API_BASE | \w+_BASE_URL | \w+_API_VERSION | \w+_AUTH_TOKEN
    | (?: OPENAI | ANTHROPIC | AZURE | AWS | GOOGLE | GEMINI | VERTEXAI | VERTEX | OLLAMA | HF | HUGGINGFACE
        | CLOUDSDK | WATSONX | DATABRICKS | GITHUB_COPILOT | LM_STUDIO | OPENROUTER | OR )_\w+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def host_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables for the child. Loopback never goes through a proxy: a local server is local."""
    kept = {name: value for name, value in environment.items() if _NEEDED.fullmatch(name)}
    exempt = kept.get("NO_PROXY") or kept.get("no_proxy") or ""
    if exempt != "*":
        named = [part.strip() for part in exempt.split(",") if part.strip()]
        exempt = ",".join([*named, *(host for host in _LOOPBACK if host not in named)])
    return {**kept, "NO_PROXY": exempt, "no_proxy": exempt}
