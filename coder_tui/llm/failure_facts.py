"""Collects the facts of a failed call from an exception and its causes; the top class name misleads."""

import json
import math
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

LONGEST_RETRY_AFTER = 300.0
_DEEPEST = 12
_LONGEST_WORDS = 300


class Cause(StrEnum):
    """What failed below HTTP, if anything."""

    NONE = "none"
    REFUSED = "refused"
    NO_ADDRESS = "no_address"
    UNREACHABLE = "unreachable"
    CERTIFICATE = "certificate"
    CUT = "cut"
    GARBAGE = "garbage"


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """`status` is what the server answered, or what litellm made up; `words` is the server's message.

    `codes` are the error codes and types in the answer.
    """

    cause: Cause
    status: int | None
    words: str
    codes: frozenset[str]
    retry_after: float | None


def read_failure_facts(error: BaseException) -> FailureFacts:
    chain = tuple(_chain(error))
    headers = _headers(chain)
    return FailureFacts(
        cause=_cause(chain),
        status=_status(chain),
        words=_words(chain),
        codes=frozenset(code for error in chain for code in _CODE_FIELD.findall(str(error))),
        retry_after=parse_retry_after(headers, datetime.now(UTC)),
    )


def parse_retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that a server asks us to wait, capped; None if it does not."""
    seconds: float | None
    if wish := headers.get("retry-after-ms"):
        seconds = _number(wish)
        seconds = None if seconds is None else seconds / 1000
    elif wish := headers.get("retry-after"):
        seconds = _number(wish)
        if seconds is None:
            seconds = _until(wish, now)
    else:
        seconds = None
    return None if seconds is None else min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _until(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    seen: set[int] = set()
    while current is not None and id(current) not in seen and len(seen) < _DEEPEST:
        seen.add(id(current))
        yield current
        original = getattr(current, "original_exception", None)
        current = (
            original if isinstance(original, BaseException) else current.__cause__ or current.__context__
        )


_CAUSES_BY_NAME = {
    "ConnectTimeout": Cause.UNREACHABLE,
    "ConnectionTimeoutError": Cause.UNREACHABLE,
    "ConnectError": Cause.UNREACHABLE,
    "ClientConnectorError": Cause.UNREACHABLE,
    "ProxyError": Cause.UNREACHABLE,
    "ReadError": Cause.CUT,
    "RemoteProtocolError": Cause.CUT,
    "ClientPayloadError": Cause.CUT,
    "ServerDisconnectedError": Cause.CUT,
}


def _cause(chain: tuple[BaseException, ...]) -> Cause:
    """Return the cause; the deepest exception knows best."""
    for error in reversed(chain):
        match error:
            case ssl.SSLError():
                return Cause.CERTIFICATE
            case socket.gaierror():
                return Cause.NO_ADDRESS
            case ConnectionRefusedError():
                return Cause.REFUSED
            case json.JSONDecodeError() | UnicodeDecodeError():
                return Cause.GARBAGE
            case ConnectionResetError() | BrokenPipeError():
                return Cause.CUT
            case _ if (cause := _CAUSES_BY_NAME.get(type(error).__name__)) is not None:
                return cause
    # Not an exception of an HTTP library, raised while reading a chunk: the chunk had the wrong shape.
    if type(chain[0]).__name__ == "MidStreamFallbackError" and isinstance(
        chain[-1], (AttributeError, TypeError, KeyError, IndexError, ValueError)
    ):
        return Cause.GARBAGE
    return Cause.NONE


def _status(chain: tuple[BaseException, ...]) -> int | None:
    """Return the status of the deepest response, else what the outermost exception claims."""
    for error in reversed(chain):
        response = getattr(error, "response", None)
        status = getattr(response, "status_code", None)
        if isinstance(status, int) and getattr(response, "headers", None):
            return status
    for error in chain:
        status = getattr(error, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _headers(chain: tuple[BaseException, ...]) -> Mapping[str, str]:
    for error in chain:
        response = getattr(error, "response", None)
        for holder in (response, error):
            headers = getattr(holder, "headers", None) or getattr(holder, "litellm_response_headers", None)
            if headers:
                return {str(name).lower(): str(value) for name, value in dict(headers).items()}
    return {}


_MESSAGE_FIELD = re.compile(r"""["']message["']:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""")
_CODE_FIELD = re.compile(r"""["'](?:code|type)["']:\s*["'](\w+)["']""")
_PREFIXES = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception))(?:\s-)?:?\s+(?:-\s+)?")


def _words(chain: tuple[BaseException, ...]) -> str:
    """Return the server's message, without what litellm wraps around it."""
    text = str(chain[0])
    if found := _MESSAGE_FIELD.search(text):
        text = found[1] or found[2] or ""
    else:
        text = text.partition("\nTraceback")[0].partition(" Original exception:")[0]
        while (stripped := _PREFIXES.sub("", text)) != text:
            text = stripped
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_WORDS else line[: _LONGEST_WORDS - 1] + "…"
