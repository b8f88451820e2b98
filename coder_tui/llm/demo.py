"""The built-in demo model: a scripted play behind the same stream as any other model."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from uuid import uuid4

from coder_tui.llm.client import (
    ModelRequest,
    StreamFinished,
    StreamItem,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from coder_tui.llm.demo_script import Scene, next_scene
from coder_tui.protocol.messages import FinishReason
from coder_tui.protocol.usage import Usage

DEMO_MODEL = "demo"
CONTEXT_WINDOW = 32_000
_CHARACTERS_PER_TOKEN = 4


class DemoClient:
    """Deterministic; `pace` is the pause between words, in seconds."""

    def __init__(self, pace: float = 0.012) -> None:
        self._pace = pace

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamItem]:
        scene = next_scene(request.messages)
        for word in _words(scene.thinking):
            await asyncio.sleep(self._pace)
            yield ThinkingChunk(word)
        for word in _words(scene.text):
            await asyncio.sleep(self._pace)
            yield TextChunk(word)
        for index, call in enumerate(scene.calls):
            await asyncio.sleep(self._pace)
            yield ToolCallChunk(index, f"demo_{uuid4().hex[:12]}", call.tool, json.dumps(call.arguments))
        reason = FinishReason.TOOL_CALLS if scene.calls else FinishReason.STOP
        yield StreamFinished(reason, usage=_usage(request, scene))

    async def warm(self) -> None:
        return None

    async def close(self) -> None:
        return None


def _words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _usage(request: ModelRequest, scene: Scene) -> Usage:
    """Free of charge, but the gauge on the screen should move."""
    sent = len(request.system) + sum(len(str(message)) for message in request.messages)
    written = len(scene.text) + len(scene.thinking) + sum(len(str(call)) for call in scene.calls)
    return Usage(sent // _CHARACTERS_PER_TOKEN, written // _CHARACTERS_PER_TOKEN, cost=0.0)
