"""Turns anything that a model call raised into one clear sentence and what to do about it."""

import re
from dataclasses import dataclass, replace

from coder_tui.llm.failure_facts import Cause, FailureFacts, read_failure_facts
from coder_tui.llm.providers import Provider, place_of, provider_of
from coder_tui.protocol.errors import ModelError, ModelErrorKind
from coder_tui.text.redact import Redactor

_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|prompt is too long|too many tokens|"
    r"input (?:is )?too long|exceeds? the (?:maximum|available) (?:number of )?(?:tokens|context)|"
    r"ContextWindowExceeded|reduce the length of the (?:messages|prompt)|input token count",
    re.IGNORECASE,
)
_WINDOW = re.compile(
    r"(?:maximum context length (?:is|of) |context size \(|tokens > |tokens allowed \()(\d{4,9})\b|"
    r"\b(\d{4,9}) maximum context",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"missing (?:\w+ )*(?:credentials|api[ _]key)|no api key|api_key client option", re.IGNORECASE
)
_NO_MODEL = re.compile(
    r"LLM Provider NOT provided|model\b.{0,80}\b(?:not found|(?:does )?not exist)|(?:unknown|no such) model",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(
    r"(?:invalid|incorrect|wrong|expired).{0,20}(?:api[ _-]?key|token|credential)", re.IGNORECASE
)
_RATE = re.compile(r"rate.?limit|too many requests", re.IGNORECASE)
_NO_CREDIT = re.compile(r"credit balance|insufficient (?:balance|credit|funds)", re.IGNORECASE)
# "You exceeded your current quota" alone is not enough: some servers say it about a limit per minute.
_NO_CREDIT_CODES = frozenset({"insufficient_quota", "billing_error"})
_LIST_MODELS = "Run `coder-tui models` to list the models you can use."


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a call went, for error messages."""

    model: str
    api_base: str

    @property
    def place(self) -> str:
        return place_of(self.model, self.api_base)

    @property
    def key_variable(self) -> str:
        provider = provider_of(self.model)
        return provider.key_variables[0] if provider and provider.key_variables else ""


def model_error(error: BaseException, destination: Destination, redact: Redactor) -> ModelError:
    """Return the error for the user, without secrets. A `ModelError` is only redacted."""
    found = error if isinstance(error, ModelError) else _from_facts(read_failure_facts(error), destination)
    return replace(found, message=redact(found.message), hint=redact(found.hint))


def no_key_error(provider: Provider) -> ModelError:
    return ModelError(
        ModelErrorKind.NO_KEY,
        f"There is no API key for {provider.label}.",
        f"Set {provider.key_variables[0]}, or choose another model with --model.",
    )


def cut_error(destination: Destination) -> ModelError:
    return ModelError(
        ModelErrorKind.CUT,
        f"{destination.place} closed the connection in the middle of the reply.",
        "Nothing from that reply was run. Send the message again.",
    )


def garbage_error(destination: Destination) -> ModelError:
    return ModelError(
        ModelErrorKind.GARBAGE,
        f"{destination.place} sent something that is not a model's reply.",
        "Check the server's address: --api-base usually ends in /v1.",
    )


def idle_error(destination: Destination, seconds: float) -> ModelError:
    return ModelError(
        ModelErrorKind.IDLE,
        f"{destination.place} has sent nothing for {seconds:g} seconds.",
        "Try again, or choose another model with --model.",
    )


def host_died_error() -> ModelError:
    return ModelError(
        ModelErrorKind.HOST_DIED,
        "The model process ended unexpectedly.",
        "Send the message again; a new one starts automatically.",
    )


def host_not_started_error(error: OSError) -> ModelError:
    return ModelError(
        ModelErrorKind.HOST_DIED,
        f"The model process cannot be started: {error.strerror or error}.",
        "Reinstall coder-tui, or check its log file.",
    )


def _from_facts(facts: FailureFacts, destination: Destination) -> ModelError:
    place = destination.place
    match facts.cause:
        case Cause.REFUSED:
            return _unreachable(
                f"Cannot connect to {place}: it refused the connection.", "Is the server running?"
            )
        case Cause.NO_ADDRESS:
            return _unreachable(
                f"Cannot connect to {place}: its address was not found.", "Is the network up?"
            )
        case Cause.UNREACHABLE:
            return _unreachable(f"Cannot connect to {place}.", "Is the network up?")
        case Cause.CERTIFICATE:
            return ModelError(
                ModelErrorKind.BAD_REQUEST,
                f"The secure connection to {place} failed: its certificate is not trusted.",
                "Set SSL_CERT_FILE to the file of your certificate authority.",
            )
        case Cause.CUT:
            return cut_error(destination)
        case Cause.GARBAGE:
            return garbage_error(destination)
        case Cause.NONE:
            return _from_answer(facts, destination)


def _unreachable(message: str, question: str) -> ModelError:
    hint = f"{question} Check --api-base and the proxy variables."
    return ModelError(ModelErrorKind.REFUSED, message, hint)


def _from_answer(facts: FailureFacts, destination: Destination) -> ModelError:
    """Classify an answer: by the server's words, then by its status, then by the exception's class."""
    words, status = facts.words, facts.status
    if _NO_KEY.search(words) and (provider := provider_of(destination.model)) and provider.key_variables:
        return no_key_error(provider)
    if _OVERFLOW.search(words) and status != 429:
        return _overflow(words)
    if _NO_MODEL.search(words) or status == 404:
        return _no_model(destination)
    if status in {401, 403} or (status == 400 and _BAD_KEY.search(words)):
        return _bad_key(facts, destination)
    if status == 402 or _NO_CREDIT.search(words) or _NO_CREDIT_CODES & facts.codes:
        return _refused_request(facts, destination, "Check the plan and balance of your account.")
    if status == 429 or _RATE.search(words):
        return _rate_limit(facts, destination)
    if status == 408 or (status is not None and status >= 500):
        return _server(facts, destination)
    return _refused_request(facts, destination, "")


def _overflow(words: str) -> ModelError:
    named = _WINDOW.search(words)
    return overflow_error(int(named[1] or named[2]) if named else None)


def overflow_error(window: int | None) -> ModelError:
    return ModelError(
        ModelErrorKind.OVERFLOW,
        "The conversation no longer fits into the model's context window.",
        "Send a shorter message, or choose a model with a larger context window.",
        window=window,
    )


def _no_model(destination: Destination) -> ModelError:
    return ModelError(
        ModelErrorKind.NO_MODEL, f"{destination.place} has no model “{destination.model}”.", _LIST_MODELS
    )


def _bad_key(facts: FailureFacts, destination: Destination) -> ModelError:
    variable = destination.key_variable
    status = f" ({facts.status})" if facts.status else ""
    hint = f"Check {variable}, " if variable else "Check the API key, "
    return ModelError(
        ModelErrorKind.BAD_KEY,
        f"{destination.place} did not accept the API key{status}.",
        hint + "or choose another model with --model.",
    )


def _rate_limit(facts: FailureFacts, destination: Destination) -> ModelError:
    wait = f"Try again in {facts.retry_after:.0f} seconds." if facts.retry_after else "Try again later."
    return ModelError(
        ModelErrorKind.RATE_LIMIT,
        f"{destination.place} is limiting requests (429).",
        wait,
        facts.retry_after,
    )


def _server(facts: FailureFacts, destination: Destination) -> ModelError:
    return ModelError(
        ModelErrorKind.SERVER,
        _sentence(f"{destination.place} failed with an internal error ({facts.status})", facts.words),
        "Try again later.",
        facts.retry_after,
    )


def _refused_request(facts: FailureFacts, destination: Destination, hint: str) -> ModelError:
    status = f" ({facts.status})" if facts.status else ""
    return ModelError(
        ModelErrorKind.BAD_REQUEST,
        _sentence(f"{destination.place} refused the request{status}", facts.words),
        hint,
    )


def _sentence(start: str, words: str) -> str:
    return f"{start}: {words.rstrip('.')}." if words else f"{start}."
