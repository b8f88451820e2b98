"""Says in words why a request failed."""

import ssl
from collections.abc import Iterator

import httpx

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress

# Part of every handshake, and no reason for anything.
_WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
_CERTIFICATE_HINT = (
    "A person can name the authority in the setting fetch.ca_bundle, "
    "or the host in fetch.insecure_hosts; do not try to get around it."
)


def network_failure(error: httpx.TransportError | httpx.InvalidURL, address: WebAddress) -> ToolError:
    """A `ToolError` for what went wrong between here and the server."""
    place = address.origin
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            message = f"The certificate of {address.host} is not trusted: {cause.verify_message}."
            return ToolError(ErrorType.NETWORK_ERROR, message, _CERTIFICATE_HINT)
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, _WAITING):
            reason = (cause.reason or "it does not speak TLS").replace("_", " ").lower()
            return ToolError(ErrorType.NETWORK_ERROR, f"No secure connection to {place}: {reason}.")
    match error:
        case httpx.ConnectTimeout():
            return ToolError(ErrorType.TIMEOUT, f"{place} did not take the connection in time.")
        case httpx.TimeoutException():
            return ToolError(ErrorType.TIMEOUT, f"{place} did not answer in time.")
        case httpx.ProxyError():
            return ToolError(ErrorType.NETWORK_ERROR, f"The proxy did not let the request through: {error}.")
        case httpx.ConnectError():
            return ToolError(ErrorType.NETWORK_ERROR, f"No connection to {place}: {_system_words(error)}.")
        case httpx.RemoteProtocolError():
            return ToolError(ErrorType.NETWORK_ERROR, f"{place} does not speak HTTP as it should: {error}.")
        case _:
            return ToolError(ErrorType.NETWORK_ERROR, f"The connection to {place} broke off.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        yield current
        current = current.__cause__ or current.__context__


def _system_words(error: httpx.ConnectError) -> str:
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
    return str(error).rstrip(".") or "it failed"
