"""However much a server sends, and however slowly, a call reads a bounded part and ends."""

import asyncio
import gzip
import resource
import zlib
from collections.abc import Awaitable, Callable

import pytest

from coder_tui.protocol.errors import ErrorType
from coder_tui.web.body import Unpacker
from tests.web.loopback import Answer, Fetching, serving

PNG = b"\x89PNG\r\n\x1a\n"


async def endless(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"0123456789" * 1_000)
        await writer.drain()


async def silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def dripping(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def test_long_text_is_cut_and_says_so() -> None:
    async with serving({"/": Answer(b"a" * 250_000)}) as server:
        result = await Fetching().call(url=server.url())
    assert (len(result["content"]), result["truncated"], result["size_bytes"]) == (100_000, True, 250_000)


async def test_text_of_exactly_the_limit_is_whole() -> None:
    async with serving({"/": Answer(b"a" * 100_000)}) as server:
        result = await Fetching().call(url=server.url())
    assert (len(result["content"]), result["truncated"]) == (100_000, False)


async def test_the_smaller_limit_applies() -> None:
    async with serving(
        {"/": Answer(b"a" * 5_000), "/png": Answer(PNG + b"\0" * 5_000, "image/png")}
    ) as server:
        small = await Fetching().call(url=server.url(), max_size_kb=2)
        large = await Fetching().call(url=server.url(), max_size_kb=9_999)
        error = await Fetching().failure(url=server.url("/png"), max_size_kb=2)
    assert (len(small["content"]), small["truncated"]) == (2_000, True)
    assert (len(large["content"]), large["truncated"]) == (5_000, False)
    assert error.type is ErrorType.TOO_LARGE


async def test_a_cut_never_splits_a_character() -> None:
    async with serving({"/": Answer("aä€😀".encode() * 20_000, "text/plain; charset=utf-8")}) as server:
        result = await Fetching().call(url=server.url())
    assert len(result["content"].encode()) <= 100_000
    assert "\ufffd" not in result["content"]


async def test_a_large_page_is_read_far_enough_to_fill_the_limit() -> None:
    html = "<body>" + "<script>var x = 1;</script>" * 20_000 + "<p>the text</p></body>"
    async with serving({"/": Answer(html.encode(), "text/html")}) as server:
        result = await Fetching().call(url=server.url())
    assert (result["content"], result["truncated"]) == ("the text", False)


async def test_an_image_above_the_limit_is_too_large() -> None:
    async with serving({"/": Answer(PNG + b"\0" * 1_000_000, "image/png")}) as server:
        error = await Fetching().failure(url=server.url())
    assert error.type is ErrorType.TOO_LARGE
    assert error.fields["content_type"] == "image/png"


@pytest.mark.parametrize("kind", ["text/plain", "text/html", "", "application/json"])
async def test_an_endless_body_is_cut(kind: str) -> None:
    async with serving({"/": Answer(kind=kind, rest=endless)}) as server:
        result = await Fetching().call(url=server.url())
        assert result["truncated"] is True
        assert len(result["content"]) <= 100_000
        await asyncio.wait_for(server.left.wait(), 10)


@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
async def test_a_bomb_is_unpacked_no_further_than_the_limit(kind: str) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b"\x20" * 1_000_000) for _ in range(150)) + packer.flush()
    assert len(bomb) < 1_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with serving({"/": Answer(bomb, kind, headers={"Content-Encoding": "gzip"})}) as server:
        result = await Fetching().call(url=server.url())
    assert result["truncated"] is True
    assert len(result["content"]) <= 100_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


async def test_packed_bytes_that_unpack_to_nothing_end_too() -> None:
    empty = gzip.compress(b"")

    async def nothing(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(empty * 2_000)
            await writer.drain()

    async with serving({"/": Answer(headers={"Content-Encoding": "gzip"}, rest=nothing)}) as server:
        result = await Fetching().call(url=server.url())
    assert (result["content"], result["truncated"]) == ("", True)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"hello")),
        ("x-gzip", gzip.compress(b"hel") + gzip.compress(b"lo")),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("identity", b"hello"),
    ],
    ids=["gzip", "two gzips", "zlib", "deflate", "identity"],
)
async def test_packed_bodies_are_unpacked(encoding: str, body: bytes) -> None:
    async with serving({"/": Answer(body, headers={"Content-Encoding": encoding})}) as server:
        assert (await Fetching().call(url=server.url()))["content"] == "hello"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "compress"])
async def test_a_packing_that_was_not_asked_for_is_refused(encoding: str) -> None:
    async with serving({"/": Answer(b"x", headers={"Content-Encoding": encoding})}) as server:
        error = await Fetching().failure(url=server.url())
    assert error.type is ErrorType.NETWORK_ERROR
    assert encoding in error.message


async def test_broken_packing_is_a_network_error() -> None:
    async with serving({"/": Answer(b"not gzip at all", headers={"Content-Encoding": "gzip"})}) as server:
        assert (await Fetching().failure(url=server.url())).type is ErrorType.NETWORK_ERROR


def test_an_unpacker_fed_byte_by_byte_gives_the_same() -> None:
    packed, inflater = gzip.compress(b"first ") + gzip.compress(b"second"), Unpacker("gzip")
    assert b"".join(inflater.feed(packed[i : i + 1], 100) for i in range(len(packed))) == b"first second"


@pytest.mark.parametrize("rest", [silent, dripping])
async def test_a_slow_body_ends_at_the_time_limit(
    rest: Callable[[asyncio.StreamWriter], Awaitable[None]],
) -> None:
    async with serving({"/": Answer(b"x", "text/html", rest=rest)}) as server:
        error = await Fetching().failure(url=server.url(), timeout_sec=0.3)
        assert error.type is ErrorType.TIMEOUT
        assert error.message == f"{server.url().rstrip('/')} took longer than 0.3 s."


async def test_slow_headers_end_at_the_time_limit() -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-A: ")
        await reader.read()
        writer.close()

    listening = await asyncio.start_server(slow, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        error = await Fetching().failure(url=f"http://127.0.0.1:{port}/", timeout_sec=0.3)
    assert error.type is ErrorType.TIMEOUT


async def test_endless_headers_are_refused() -> None:
    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"b" * 1_000_000)
        await reader.read()
        writer.close()

    listening = await asyncio.start_server(flood, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        error = await Fetching().failure(url=f"http://127.0.0.1:{port}/")
    assert error.type is ErrorType.NETWORK_ERROR


async def test_a_body_that_breaks_off_is_a_network_error() -> None:
    async with serving({"/": Answer(b"half", headers={"Content-Length": "100"})}) as server:
        assert (await Fetching().failure(url=server.url())).type is ErrorType.NETWORK_ERROR


@pytest.mark.parametrize(("asked", "seconds"), [(None, 30), (0, 30), (-1, 30), (5, 5), (999, 120)])
def test_the_time_limit_is_bounded(asked: float | None, seconds: float) -> None:
    params = Fetching().tool.params.model_validate({"url": "https://a.example/", "timeout_sec": asked})
    assert params.seconds == seconds


@pytest.mark.parametrize(
    "html", ["<div>" * 200_000, "<table><tr><td>" * 50_000, "<b>" * 300_000, "<" * 500_000]
)
async def test_a_hostile_page_ends(html: str) -> None:
    async with serving({"/": Answer(f"<html>{html}".encode(), "text/html")}) as server:
        assert (await Fetching().call(url=server.url()))["ok"] is True
