"""Which provider a model id names, what people call it, and where its key comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Provider:
    """`prefix` is litellm's; any one of `key_variables` is enough, none means that no key is needed."""

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
# Ids without a prefix that litellm knows to place by itself.
_BARE_FAMILIES = (
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
)


def provider_of(model: str) -> Provider | None:
    """The provider of a model id, None where it is none of the table's."""
    prefix, slash, _ = model.partition("/")
    if slash:
        return _BY_PREFIX.get(prefix)
    for start, prefix in _BARE_FAMILIES:
        if model.startswith(start):
            return _BY_PREFIX[prefix]
    return None


def is_same_provider(one: str, other: str) -> bool:
    """Whether an address set for one model may get the other's key; of unknown ones the names count."""
    return _family(one) == _family(other)


def _family(model: str) -> str:
    provider = provider_of(model)
    return provider.prefix if provider else model.partition("/")[0]


def needs_key(model: str, api_base: str, environment: Mapping[str, str]) -> Provider | None:
    """The provider whose key is missing for this call; a server of one's own may need none."""
    provider = provider_of(model)
    if provider is None or api_base or provider.has_key(environment):
        return None
    return provider


def place_of(model: str, api_base: str) -> str:
    """Whom a call goes to, in words for a person: a host and port, or the provider's name."""
    if api_base:
        return urlsplit(api_base).netloc.rpartition("@")[2] or api_base
    provider = provider_of(model)
    return provider.label if provider else model.partition("/")[0]
