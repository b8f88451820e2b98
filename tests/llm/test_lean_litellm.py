"""Parts of litellm that are left out must not be needed, and must stay out."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

from coder_tui.llm.host import only_counted


def chunk(text: str, usage: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(text=text, usage=usage)


def given(chunks: list[Any]) -> list[Any]:
    """Return the chunks that the wrapped builder gets."""
    build = only_counted(lambda chunks, *, messages: [chunks, messages])
    seen, messages = build(chunks, messages=["hello"])
    assert messages == ["hello"]
    return list(seen)


def test_only_the_first_chunk_and_those_with_counts_are_put_together() -> None:
    first, last = chunk("a"), chunk("", "5 tokens")
    assert given([first, *(chunk("b") for _ in range(1000)), last]) == [first, last]


def test_counts_at_the_beginning_are_not_lost() -> None:
    first, last = chunk("", "3 tokens in"), chunk("", "5 tokens out")
    assert given([first, chunk("b"), last]) == [first, last]


def test_without_counts_from_the_server_all_chunks_are_used() -> None:
    chunks = [chunk("a"), chunk("b")]
    assert given(chunks) == chunks


LOADED = """
import asyncio, json, sys
from coder_tui.llm import host
from coder_tui.llm.host import practice_server

load = json.load
litellm = host._import_litellm()

async def ask():
    async with practice_server() as address:
        tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
        call = {"model": "openai/x", "api_base": address, "messages": [{"role": "user", "content": "?"}]}
        stream = await litellm.acompletion(**host._complete({**call, "tools": [tool]}))
        return [chunk async for chunk in stream]

counted = [chunk.usage.total_tokens for chunk in asyncio.run(ask()) if getattr(chunk, "usage", None)]
unneeded = {"mcp", "starlette", "rich", "pygments"}
print(counted, json.load is load, sorted(unneeded & sys.modules.keys()))
"""


def test_a_call_with_tools_loads_neither_servers_nor_a_command_line_and_still_counts() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[2] True []"
