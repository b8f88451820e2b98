"""Proxies come from settings and environment; what is local never goes through one."""

import asyncio

import pytest

from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import read_address
from coder_tui.web.transport import Proxies, shown_proxy
from coder_tui.web.web import WebSettings
from tests.web.loopback import Answer, Fetching, Names, Received, serving


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("https://a.example/", {}, ""),
        ("https://a.example/", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://a.example/", {"https_proxy": "http://low:1", "HTTPS_PROXY": "http://p:1"}, "http://low:1"),
        ("http://a.example/", {"HTTPS_PROXY": "http://p:1"}, ""),
        ("http://a.example/", {"HTTP_PROXY": "p:1"}, "http://p:1"),
        ("http://a.example/", {"HTTP_PROXY": "p:1", "REQUEST_METHOD": "GET"}, ""),
        ("http://a.example/", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("http://localhost:8/", {"ALL_PROXY": "http://p:1"}, ""),
        ("http://127.0.0.1/", {"ALL_PROXY": "http://p:1"}, ""),
        ("http://a.example/", {"ALL_PROXY": "http://p:1", "NO_PROXY": "*"}, ""),
        ("http://a.example/", {"ALL_PROXY": "http://p:1", "NO_PROXY": "b.example, a.example"}, ""),
        ("http://x.a.example/", {"ALL_PROXY": "http://p:1", "NO_PROXY": ".a.example"}, ""),
        ("http://x.a.example/", {"ALL_PROXY": "http://p:1", "NO_PROXY": "a.example"}, ""),
        ("http://xa.example/", {"ALL_PROXY": "http://p:1", "NO_PROXY": "a.example"}, "http://p:1"),
        ("http://a.example:81/", {"ALL_PROXY": "http://p:1", "NO_PROXY": "a.example:80"}, "http://p:1"),
        ("http://10.1.2.3/", {"ALL_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, ""),
    ],
)
def test_the_environment_chooses_a_proxy(url: str, environ: dict[str, str], proxy: str) -> None:
    assert Proxies("", environ).for_address(read_address(url)) == proxy


def test_the_setting_goes_before_the_environment() -> None:
    proxies = Proxies("http://mine:3", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.example"})
    assert proxies.for_address(read_address("https://a.example/")) == "http://mine:3"
    assert proxies.for_address(read_address("https://b.example/")) == ""


@pytest.mark.parametrize("proxy", ["socks5://p:1", "http://", "http://p:x", "ftp://p"])
def test_an_unusable_proxy_is_reported(proxy: str) -> None:
    with pytest.raises(ToolError) as caught:
        Proxies(proxy).for_address(read_address("https://a.example/"))
    assert caught.value.type is ErrorType.NETWORK_ERROR
    assert "fetch.proxy" in caught.value.hint


def test_a_proxy_is_shown_without_its_password() -> None:
    assert shown_proxy("http://me:secret@p.example:3128") == "http://p.example:3128"


async def test_a_request_goes_through_the_proxy_by_name() -> None:
    def relay(received: Received) -> Answer:
        return Answer(f"relayed {received.path}".encode())

    names = Names({})
    async with serving({"http://far.example/x": relay}) as proxy:
        fetching = Fetching(names, WebSettings(proxy=proxy.url()))
        result = await fetching.call(url="http://far.example/x", headers={"Authorization": "Bearer t"})
    assert (result["content"], names.asked) == ("relayed http://far.example/x", [])
    assert proxy.seen[0].headers["host"] == "far.example"


async def test_a_proxy_is_asked_for_a_tunnel_by_name() -> None:
    asked = asyncio.get_running_loop().create_future()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set_result((await reader.readuntil(b"\r\n")).decode().strip())
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    listening = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        fetching = Fetching(Names({}), WebSettings(proxy=f"http://127.0.0.1:{port}"))
        error = await fetching.failure(url="https://far.example/")
    assert await asked == "CONNECT far.example:443 HTTP/1.1"
    assert error.type is ErrorType.NETWORK_ERROR
    assert error.message.startswith("The proxy did not let the request through: 403")


@pytest.mark.parametrize("host", ["169.254.169.254", "metadata.google.internal", "[fe80::1]"])
async def test_metadata_is_refused_through_a_proxy_too(host: str) -> None:
    async with serving({}) as proxy:
        error = await Fetching(Names({}), WebSettings(proxy=proxy.url())).failure(url=f"http://{host}/")
    assert (error.type, proxy.seen) == (ErrorType.PERMISSION_DENIED, [])
