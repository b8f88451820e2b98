"""Shows a request to the person who must decide on it: whole, but without its secrets."""

import re
from dataclasses import replace

from coder_tui.policy.addresses import reach_of_address
from coder_tui.protocol.access import Target, TargetKind
from coder_tui.protocol.display import TextBlock
from coder_tui.tools.builtin.fetch_params import FetchParams
from coder_tui.web.address import WebAddress
from coder_tui.web.fetcher import Foresight
from coder_tui.web.proxies import shown_proxy

_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|passw|session|credential|signature", re.IGNORECASE)
MASK = "••••"


def preview_of(params: FetchParams, address: WebAddress) -> TextBlock:
    lines = [f"{params.method} {address.url}"]
    for name, value in (params.headers or {}).items():
        lines.append(f"{name}: {MASK if _SECRET_HEADER.search(name) else value}")
    if params.body is not None:
        lines += ["", params.body]
    return TextBlock("\n".join(lines))


def facts_of(params: FetchParams, address: WebAddress, foresight: Foresight) -> tuple[str, ...]:
    facts = [f"resolves to {ip}, a {reach_of_address(ip)} address" for ip in foresight.private]
    if foresight.proxy:
        facts.append(f"goes through the proxy {shown_proxy(foresight.proxy)}, which looks the name up itself")
    if foresight.is_unverified:
        facts.append(f"TLS is not verified for {address.host}: fetch.insecure_hosts names it")
    if address.scheme == "http":
        facts.append("is not encrypted")
    if params.auth is not None:
        facts.append(f"answers a 401 with the {params.auth.type} credentials of the call, there only")
    if "xn--" in address.host:
        facts.append("its host is written in another alphabet; xn--… is its real name")
    return tuple(facts)


def private_targets(address: WebAddress, foresight: Foresight, *, writes: bool) -> tuple[Target, ...]:
    """The addresses behind a name that are not public are decided on by themselves."""
    return tuple(
        Target(TargetKind.ADDRESS, replace(address, host=str(ip), target="/").url, writes)
        for ip in foresight.private
    )
