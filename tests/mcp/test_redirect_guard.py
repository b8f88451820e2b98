"""A login may not lead into this machine or network, unless the server itself is there."""

from ipaddress import ip_address

import pytest

from coder_tui.mcp.login import RedirectGuard, RefusedRedirectError
from coder_tui.policy.addresses import IpAddress
from coder_tui.protocol.errors import ErrorType, ToolError

NAMES = {
    "mcp.example": "93.184.216.34",
    "sso.example": "93.184.216.35",
    "mcp.corp": "10.0.0.5",
    "sso.corp": "10.0.0.6",
    "sly.example": "127.0.0.1",
    "cloud.example": "169.254.169.254",
}


async def resolver(host: str) -> tuple[IpAddress, ...]:
    if host not in NAMES:
        raise ToolError(ErrorType.NETWORK_ERROR, "not found")
    return (ip_address(NAMES[host]),)


@pytest.mark.parametrize(
    ("home", "place", "is_open"),
    [
        ("https://mcp.example/mcp", "https://sso.example/token", True),
        ("https://mcp.example/mcp", "https://unknown.example/token", True),
        ("https://mcp.example/mcp", "http://sso.example/token", False),
        ("https://mcp.example/mcp", "http://mcp.example/token", False),
        ("http://mcp.example/mcp", "https://MCP.example./token", True),
        ("https://mcp.example/mcp", "https://127.0.0.1/token", False),
        ("https://mcp.example/mcp", "https://2130706433/token", False),
        ("https://mcp.example/mcp", "https://localhost/token", False),
        ("https://mcp.example/mcp", "https://sso.corp/token", False),
        ("https://mcp.example/mcp", "https://sly.example/token", False),
        ("https://mcp.example/mcp", "https://[::ffff:169.254.169.254]/", False),
        ("https://mcp.corp/mcp", "https://sso.corp/token", True),
        ("https://mcp.corp/mcp", "https://cloud.example/token", False),
        ("https://mcp.corp/mcp", "https://localhost/token", False),
        ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:9000/token", True),
        ("http://127.0.0.1:8000/mcp", "https://localhost:9000/token", True),
        ("https://mcp.example/mcp", "file:///etc/passwd", False),
        ("https://mcp.example/mcp", "https://[broken/", False),
    ],
)
async def test_an_address_is_allowed_or_refused(home: str, place: str, is_open: bool) -> None:
    try:
        await RedirectGuard(home, resolver).check(place)
    except RefusedRedirectError:
        assert not is_open
    else:
        assert is_open


@pytest.mark.parametrize("link", ["javascript:alert(1)", "file:///x", "http://sso.example/", "http://["])
def test_a_link_for_the_user_must_be_https(link: str) -> None:
    with pytest.raises(RefusedRedirectError):
        RedirectGuard("http://mcp.example/mcp", resolver).check_link(link)
