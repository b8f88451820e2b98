"""Servers are verified unless the user's own settings name the host."""

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme

from coder_tui.protocol.display import TextBlock
from coder_tui.protocol.errors import ErrorType
from coder_tui.web.web import WebSettings
from tests.web.loopback import HERE, OUTSIDE, Answer, Fetching, Names, serving

AUTHORITY = trustme.CA()


def certified(*names: str, authority: trustme.CA = AUTHORITY) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("authority") / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(str(path))
    return str(path)


def fetching(settings: WebSettings | None = None) -> Fetching:
    names = Names({"safe.example": [OUTSIDE], "other.example": [OUTSIDE], "localhost": [HERE]})
    return Fetching(names, settings)


async def test_an_unknown_authority_is_refused_before_anything_is_sent() -> None:
    async with serving({"/": Answer(b"x")}, OUTSIDE, certified("safe.example")) as server:
        error = await fetching().failure(url=server.url("/", "safe.example"), headers={"Authorization": "x"})
    assert (error.type, server.seen) == (ErrorType.NETWORK_ERROR, [])
    assert error.message.startswith("The certificate of safe.example is not trusted: ")
    assert "fetch.ca_bundle" in error.hint


async def test_a_bundle_from_the_settings_is_believed(bundle: str) -> None:
    async with serving({"/": Answer(b"safe")}, OUTSIDE, certified("safe.example")) as server:
        result = await fetching(WebSettings(ca_bundle=bundle)).call(url=server.url("/", "safe.example"))
    assert result["content"] == "safe"


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
async def test_a_bundle_from_the_environment_is_believed(bundle: str, variable: str) -> None:
    async with serving({"/": Answer(b"safe")}, OUTSIDE, certified("safe.example")) as server:
        result = await fetching(WebSettings(environ={variable: bundle})).call(
            url=server.url("/", "safe.example")
        )
    assert result["content"] == "safe"


async def test_the_certificate_must_be_for_the_name_and_not_for_the_pinned_address(bundle: str) -> None:
    async with serving({"/": Answer(b"x")}, OUTSIDE, certified("other.example", OUTSIDE)) as server:
        error = await fetching(WebSettings(ca_bundle=bundle)).failure(url=server.url("/", "safe.example"))
        fine = await fetching(WebSettings(ca_bundle=bundle)).call(url=server.url("/", "other.example"))
        literal = await fetching(WebSettings(ca_bundle=bundle)).call(url=server.url("/", OUTSIDE))
    assert error.type is ErrorType.NETWORK_ERROR
    assert (fine["content"], literal["content"]) == ("x", "x")


async def test_a_named_host_is_not_verified_and_the_user_is_warned() -> None:
    async with serving({"/": Answer(b"x")}, OUTSIDE, certified("somebody.example")) as server:
        lenient = fetching(WebSettings(insecure_hosts=frozenset({"safe.example"})))
        result = await lenient.result(url=server.url("/", "safe.example"))
        error = await lenient.failure(url=server.url("/", "other.example"))
    assert result.for_user == TextBlock(
        "200 OK\n! TLS was not verified, because fetch.insecure_hosts names this host\nx"
    )
    assert error.type is ErrorType.NETWORK_ERROR


async def test_a_bundle_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing, broken = tmp_path / "missing.pem", tmp_path / "broken.pem"
    broken.write_text("nothing")
    for path in (missing, broken):
        error = await fetching(WebSettings(ca_bundle=str(path))).failure(url="https://safe.example/")
        assert error.type is ErrorType.NETWORK_ERROR
        assert str(path) in error.message
        assert error.hint == "Check the setting fetch.ca_bundle."


async def test_plain_http_where_tls_is_expected_is_a_network_error() -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listening = await asyncio.start_server(speak, HERE, 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        error = await fetching().failure(url=f"https://{HERE}:{port}/")
    assert error.type is ErrorType.NETWORK_ERROR
    assert error.message.startswith(f"No secure connection to https://{HERE}:{port}: ")


async def test_an_unanswered_handshake_is_a_timeout() -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listening = await asyncio.start_server(listen, HERE, 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        error = await fetching().failure(url=f"https://{HERE}:{port}/", timeout_sec=0.5)
    assert error.type is ErrorType.TIMEOUT
