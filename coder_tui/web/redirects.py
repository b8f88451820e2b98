"""What becomes of a request when its answer sends it elsewhere."""

import re

from coder_tui.policy.rules import Effect
from coder_tui.protocol.errors import ErrorType, ToolError
from coder_tui.web.address import WebAddress
from coder_tui.web.messages import Headers, Outgoing

MOST_REDIRECTS = 5
READING_METHODS = frozenset({"GET", "HEAD"})
_STATUSES = frozenset({301, 302, 303, 307, 308})
# All that another origin gets to see of what the caller put in: the rest may be a credential by any name.
_HARMLESS = re.compile(
    r"accept(-language)?|user-agent|content-type|range|if-[a-z-]+|cache-control", re.IGNORECASE
)
_OF_A_BODY = re.compile(r"content-.*", re.IGNORECASE)


def is_redirect(status: int, location: str | None) -> bool:
    return status in _STATUSES and bool(location)


def redirected(outgoing: Outgoing, status: int, location: str) -> Outgoing:
    """The request for the next hop; `ToolError` where it must not be made."""
    address = outgoing.address.join(location)
    becomes_get = (status == 303 and outgoing.method != "HEAD") or (
        status in (301, 302) and outgoing.method == "POST"
    )
    method, body, headers = outgoing.method, outgoing.body, outgoing.headers
    if becomes_get:
        method, body = "GET", None
        headers = tuple(pair for pair in headers if not _OF_A_BODY.fullmatch(pair[0]))
    if address.origin != outgoing.address.origin:
        if method not in READING_METHODS or body is not None:
            raise _not_followed(address, f"it would send {method} to another origin")
        headers = _harmless(headers)
    return Outgoing(method, address, headers, body)


def _harmless(headers: Headers) -> Headers:
    return tuple(pair for pair in headers if _HARMLESS.fullmatch(pair[0]))


def check_rules(first: Effect, hop: Effect, here: WebAddress, there: WebAddress) -> None:
    """A hop is decided on like a call: what a rule allowed must not lead to what nobody allowed."""
    if hop is Effect.DENY:
        raise _not_followed(there, "a rule denies it")
    if hop is Effect.ASK and first is Effect.ALLOW and _site(here) != _site(there):
        raise _not_followed(there, "no rule allows it")


def _site(address: WebAddress) -> tuple[str, int]:
    """Host and port; that of http and that of https are one, so that a site may lead to its secure self."""
    return address.host.removeprefix("www."), 443 if address.port == 80 else address.port


def _not_followed(address: WebAddress, reason: str) -> ToolError:
    return ToolError(
        ErrorType.PERMISSION_DENIED,
        f"permission denied: the redirect to {address.url} was not followed: {reason}",
        "If it is meant, fetch that address by itself, so that it is decided on.",
    )
