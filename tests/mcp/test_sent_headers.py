"""The headers of a server, which may be keys, go to its own address and to no other."""

import httpx2
import pytest

from coder_tui.mcp.client import drop_headers_elsewhere
from coder_tui.mcp.wire import ServerOrder, Transport


@pytest.mark.parametrize(
    ("home", "asked", "is_sent"),
    [
        ("https://a.example/mcp", "https://a.example/mcp/", True),
        ("http://a.example/mcp", "https://a.example/mcp", True),
        ("https://a.example/mcp", "http://a.example/mcp", False),
        ("https://a.example/mcp", "https://b.example/mcp", False),
        ("https://a.example/mcp", "https://a.example.b.example/mcp", False),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/mcp", False),
    ],
    ids=["home", "safer", "less-safe", "elsewhere", "look-alike", "port"],
)
async def test_headers_are_sent_only_to_the_servers_own_address(home: str, asked: str, is_sent: bool) -> None:
    order = ServerOrder("s", Transport.HTTP, url=home, headers={"X-Api-Key": "k"})
    request = httpx2.Request("POST", asked, headers={"x-api-key": "k", "accept": "x"})
    await drop_headers_elsewhere(order)(request)
    assert (request.headers.get("X-Api-Key"), request.headers["accept"]) == ("k" if is_sent else None, "x")
