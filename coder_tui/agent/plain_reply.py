"""One question to a model beside the conversation: its words, paid for also where they were stopped."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from typing import Any, cast
from uuid import uuid4

from coder_tui.agent.to_the_end import to_the_end
from coder_tui.agent.usage_meter import UsageMeter
from coder_tui.llm.client import ModelClient, ModelRequest, StreamFinished, TextChunk
from coder_tui.protocol.messages import AssistantMessage
from coder_tui.protocol.usage import Usage


async def plain_reply(
    client: ModelClient,
    request: ModelRequest,
    meter: UsageMeter,
    pay: Callable[[AssistantMessage], Coroutine[Any, Any, None]],
) -> AssistantMessage:
    """`pay` is the meter's way to count such a reply."""
    said: list[str] = []
    try:
        usage = await _read(client, request, said)
    except asyncio.CancelledError:
        if stopped := meter.stopped(request, "".join(said)):
            await to_the_end(pay(stopped))
        raise
    reply = AssistantMessage(uuid4().hex, "".join(said).strip(), model=request.model, usage=usage)
    await pay(reply)
    return reply


async def _read(client: ModelClient, request: ModelRequest, said: list[str]) -> Usage:
    usage = Usage()
    stream = cast(Any, client.stream(request))
    async with aclosing(stream):
        async for item in stream:
            match item:
                case TextChunk():
                    said.append(item.text)
                case StreamFinished():
                    usage = item.usage
    return usage
