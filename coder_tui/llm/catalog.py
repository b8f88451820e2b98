"""The models worth offering: a small table of current ones, what is missing for each, and local servers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coder_tui.llm.local_servers import LocalModel, find_local_models
from coder_tui.llm.providers import PROVIDERS, Provider, provider_of
from coder_tui.llm.routes import LOCAL_SERVERS, LocalServer


@dataclass(frozen=True, slots=True)
class KnownModel:
    """Context in tokens, costs in dollars per million tokens."""

    id: str
    context: int
    cost_in: float
    cost_out: float
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A model that could be used; `missing` says what is needed before it can."""

    id: str
    provider: str
    tags: tuple[str, ...]
    context: int | None
    cost_in: float | None
    cost_out: float | None
    available: bool
    missing: str


_MAIN, _STRONG, _SMALL = "main", "strong", "small"

# Per provider: first the one to start with.
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
    """Everything that could be used: what is ready first, then what lacks a key, in the table's order."""
    local = await find_local_models(environment, servers) if probe else ()
    entries = [*(_known_entry(model, environment) for model in KNOWN_MODELS), *map(_local_entry, local)]
    return tuple(sorted(entries, key=lambda entry: not entry.available))


async def default_model(
    environment: Mapping[str, str], *, servers: Sequence[LocalServer] = LOCAL_SERVERS
) -> str | None:
    """The first provider with a key, else the first model of a local server, else None."""
    for provider in PROVIDERS:
        first = next((model for model in KNOWN_MODELS if provider_of(model.id) is provider), None)
        if first is not None and provider.has_key(environment):
            return first.id
    local = await find_local_models(environment, servers)
    return local[0].id if local else None


def small_model_for(model: str) -> str:
    """A cheap model of the same provider for titles and summaries; where none is known, the model itself."""
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
        missing="" if has_key else _missing(provider),
    )


def _missing(provider: Provider) -> str:
    return f"set {' or '.join(provider.key_variables)}"


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
