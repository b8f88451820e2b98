"""One request and its answer, over a connection to an address that was checked before."""

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import httpx

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress
from coder_tui.web.body import Unpacker
from coder_tui.web.transport import Body, OnBytes, Outgoing, Route

# Part of every handshake, not a cause of failure.
_WAITING = (ssl.SSLWantReadError, ssl.SSLWantWriteError)
_CERTIFICATE_HINT = (
    "The user can name the authority in the setting fetch.ca_bundle, "
    "or the host in fetch.insecure_hosts; do not try to work around it."
)


def network_failure(error: httpx.TransportError | httpx.InvalidURL, address: WebAddress) -> ToolError:
    """Return a `ToolError` that says why a request failed."""
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
            return ToolError(ErrorType.TIMEOUT, f"{place} did not accept the connection in time.")
        case httpx.TimeoutException():
            return ToolError(ErrorType.TIMEOUT, f"{place} did not answer in time.")
        case httpx.ProxyError():
            return ToolError(ErrorType.NETWORK_ERROR, f"The proxy did not let the request through: {error}.")
        case httpx.ConnectError():
            return ToolError(ErrorType.NETWORK_ERROR, f"No connection to {place}: {_system_words(error)}.")
        case httpx.RemoteProtocolError():
            return ToolError(ErrorType.NETWORK_ERROR, f"{place} sent an invalid HTTP answer: {error}.")
        case _:
            return ToolError(ErrorType.NETWORK_ERROR, f"The connection to {place} was lost.")


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


_CONNECT_SECONDS = 10.0
_RAW_SLACK = 1_000_000


@asynccontextmanager
async def exchange(outgoing: Outgoing, route: Route) -> AsyncIterator[httpx.Response]:
    """Send a request and yield the answer before its body; leaving closes the connection."""
    proxy = httpx.Proxy(route.proxy) if route.proxy else None
    transport = httpx.AsyncHTTPTransport(verify=route.context, proxy=proxy, trust_env=False)
    async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
        response = await _send(client, outgoing, route)
        try:
            yield response
        finally:
            await response.aclose()


async def _send(client: httpx.AsyncClient, outgoing: Outgoing, route: Route) -> httpx.Response:
    hosts = [outgoing.address.host] if route.proxy else [str(ip) for ip in route.addresses]
    for host in hosts:
        try:
            return await client.send(_request(outgoing, host), stream=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            # Nothing was sent yet, so the host's next address may be tried.
            if host == hosts[-1]:
                raise network_failure(error, outgoing.address) from error
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise network_failure(error, outgoing.address) from error
    raise ToolError(ErrorType.NETWORK_ERROR, f"The host {outgoing.address.host} has no address.")


def _request(outgoing: Outgoing, host: str) -> httpx.Request:
    """Build a request that connects to `host` but names the original host, whose certificate is checked."""
    address = outgoing.address
    bracketed = f"[{host}]" if ":" in host else host
    return httpx.Request(
        outgoing.method,
        f"{address.scheme}://{bracketed}:{address.port}{address.target}",
        headers=[("Host", address.authority), *outgoing.headers],
        content=outgoing.body,
        extensions={"sni_hostname": address.host, "timeout": {"connect": _CONNECT_SECONDS}},
    )


async def read_body(response: httpx.Response, limit: int, address: WebAddress, on_bytes: OnBytes) -> Body:
    """Return at most `limit` bytes of the unpacked body."""
    encoding = response.headers.get("content-encoding", "")
    unpacker, data, received = Unpacker(encoding), bytearray(), 0
    declared = declared_length(response) if not encoding else None
    try:
        async for raw in response.aiter_raw():
            received += len(raw)
            data += unpacker.feed(raw, limit + 1 - len(data))
            on_bytes(len(data))
            # Packed bytes count too: they may go on for ever and unpack to nothing.
            if len(data) > limit or received > limit + _RAW_SLACK:
                return Body(bytes(data[:limit]), is_cut=True, declared=declared)
    except httpx.TransportError as error:
        raise network_failure(error, address) from error
    return Body(bytes(data), declared=declared)


def declared_length(response: httpx.Response) -> int | None:
    """Return the body's length as the server declares it."""
    text = response.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() else None
