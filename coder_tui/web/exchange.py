"""One request and its answer over a connection to an address that was chosen before."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress
from coder_tui.web.failures import network_failure
from coder_tui.web.messages import Body, OnBytes, Outgoing, Route
from coder_tui.web.unpack import unpack, unpacker_for

_CONNECT_SECONDS = 10.0
_RAW_SLACK = 1_000_000


@asynccontextmanager
async def exchange(outgoing: Outgoing, route: Route) -> AsyncIterator[httpx.Response]:
    """Send, and give the answer with its body still to come; leaving closes the connection."""
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
            # Nothing was sent yet, so that the host's next address may be tried.
            if host == hosts[-1]:
                raise network_failure(error, outgoing.address) from error
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise network_failure(error, outgoing.address) from error
    raise ToolError(ErrorType.NETWORK_ERROR, f"The name {outgoing.address.host} has no address.")


def _request(outgoing: Outgoing, host: str) -> httpx.Request:
    """Connect to `host`, speak to the name: that is what the certificate is checked against."""
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
    """The unpacked body, at most `limit` bytes of it."""
    encoding = response.headers.get("content-encoding", "")
    unpacker, data, received = unpacker_for(encoding), bytearray(), 0
    declared = declared_length(response) if not encoding else None
    try:
        async for raw in response.aiter_raw():
            received += len(raw)
            data += unpack(unpacker, raw, limit + 1 - len(data))
            on_bytes(len(data))
            # Packed bytes count, too: they may go on for ever and unpack to nothing.
            if len(data) > limit or received > limit + _RAW_SLACK:
                return Body(bytes(data[:limit]), is_cut=True, declared=declared)
    except httpx.TransportError as error:
        raise network_failure(error, address) from error
    return Body(bytes(data), declared=declared)


def declared_length(response: httpx.Response) -> int | None:
    """The body's length as the server names it."""
    text = response.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() else None
