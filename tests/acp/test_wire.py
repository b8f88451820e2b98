"""Invalid messages from an editor get an error, and the connection stays open."""

import asyncio
import json
from typing import Any, cast

import pytest

from coder_tui.acp.wire import INVALID_REQUEST, Wire

NONE = {"code": INVALID_REQUEST, "message": "malformed error"}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"id": 1, "error": "no"}, {"id": 1, "error": NONE}),
        ({"id": 1, "error": ["no"]}, {"id": 1, "error": NONE}),
        ({"id": 1, "error": {"code": 3}}, {"id": 1, "error": {"code": 3}}),
        ({"id": 1, "error": None}, {"id": 1, "error": None}),
        ({"id": 1, "result": 2, "error": "no"}, {"id": 1, "result": 2, "error": "no"}),
    ],
    ids=["text", "list", "error", "null", "result"],
)
async def test_a_response_with_a_malformed_error_is_an_error(
    given: dict[str, Any], taken: dict[str, Any]
) -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(json.dumps(given).encode() + b"\n")
    reader.feed_eof()
    wire = Wire(reader, cast(asyncio.StreamWriter, None))
    assert await wire.receive() == taken
    assert await wire.receive() is None
