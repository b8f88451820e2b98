"""A loopback server that says one word, so that the costly first call is over before a person waits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_CHUNK = (
    b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"practice",'
    b'"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}\n\n'
)
_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    + _CHUNK % (b'{"role":"assistant","content":"ready"}', b"null")
    + _CHUNK % (b"{}", b'"stop"')
    # With counts: without them litellm would load its tokenizer, which takes 60 MB.
    + b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"practice","choices":[],'
    + b'"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}\n\n'
    + b"data: [DONE]\n\n"
)


@asynccontextmanager
async def practice_server() -> AsyncIterator[str]:
    """The address of a server that gives every request the same short reply."""
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(_ANSWER)
        await writer.drain()
    finally:
        writer.close()
